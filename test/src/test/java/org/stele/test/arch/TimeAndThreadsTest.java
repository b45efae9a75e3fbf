package org.stele.test.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Time comes in through the constructor, threads have names, tests wait for conditions. */
class TimeAndThreadsTest {
  @Test
  void onlyTheClockReadsTheTime() {
    noClasses()
        .that()
        .resideOutsideOfPackages("org.stele.core.time..", "org.stele.tserver.bench..")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(Instant.class, "now")
        .because(
            "tests move the time by hand: take the clock of org.stele.core.time as a parameter")
        .allowEmptyShould(true)
        .check(Module.allMainClasses());
  }

  @Test
  void threadsHaveNames() {
    noClasses()
        .should()
        .callConstructor(Thread.class)
        .orShould()
        .callConstructor(Thread.class, Runnable.class)
        .orShould()
        .callMethodWhere(makesPoolOfUnnamedThreads())
        .because(
            "every thread has an owner and a role name that an operator can read in a stack dump")
        .allowEmptyShould(true)
        .check(Module.allMainClasses());
  }

  @Test
  void testsWaitForConditions() {
    noClasses()
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .callMethod(Thread.class, "sleep", long.class, int.class)
        .orShould()
        .callMethod(TimeUnit.class, "sleep", long.class)
        .because(
            "a sleep is too short on a slow machine and too long on a fast one: wait for a condition")
        .allowEmptyShould(true)
        .check(Module.allTestClasses());
  }

  private static DescribedPredicate<JavaCall<?>> makesPoolOfUnnamedThreads() {
    return DescribedPredicate.describe(
        "an Executors method without a ThreadFactory",
        call ->
            call.getTargetOwner().isEquivalentTo(Executors.class)
                && call.getName().startsWith("new")
                && call.getTarget().getRawParameterTypes().stream()
                    .noneMatch(parameter -> parameter.isEquivalentTo(ThreadFactory.class)));
  }
}
