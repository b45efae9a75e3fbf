package org.stele.test.arch;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The arrows between modules and packages. */
class ArchitectureTest {
  private static final JavaClasses MAIN = Module.allMainClasses();

  @ParameterizedTest
  @EnumSource
  void modulesOwnTheirPackages(Module module) {
    Set<String> strangers =
        module.mainClasses().stream()
            .filter(javaClass -> !module.owns(javaClass))
            .map(JavaClass::getName)
            .collect(Collectors.toSet());
    assertEquals(Set.of(), strangers, "a module's classes live below " + module.rootPackage);
  }

  @ParameterizedTest
  @EnumSource
  void arrowsBetweenModulesPointToCore(Module module) {
    String[] above =
        Arrays.stream(Module.values())
            .filter(other -> other.compareTo(module) > 0)
            .map(Module::packages)
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage(module.packages())
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(above)
        .because("the arrows are tserver → server-base → client → core")
        .allowEmptyShould(true)
        .check(MAIN);
  }

  @ParameterizedTest
  @EnumSource
  void packagesOfAModuleHaveNoCycles(Module module) {
    slices()
        .matching(module.rootPackage + ".(*)..")
        .should()
        .beFreeOfCycles()
        .because("packages in a cycle are one package; move what both need below both")
        .allowEmptyShould(true)
        .check(MAIN.that(resideOutsideOfPackage("org.stele.core.thrift..")));
  }

  @ParameterizedTest
  @MethodSource("technologies")
  void technologyStaysInItsPackages(Technology technology) {
    String[] allowed = technology.allowed().toArray(String[]::new);
    noClasses()
        .that(resideOutsideOfPackages(allowed))
        .should()
        .dependOnClassesThat(resideInAnyPackage(technology.packages().toArray(String[]::new)))
        .because(
            technology.name()
                + " belongs into "
                + technology.allowed()
                + " (the table is in Technology.java)")
        .allowEmptyShould(true)
        .check(MAIN);
  }

  static List<Technology> technologies() {
    return Technology.TABLE;
  }

  @Test
  void compositionRootIsImportedByNobody() {
    classes()
        .that()
        .resideInAPackage("org.stele.tserver")
        .should()
        .onlyBeAccessed()
        .byClassesThat(resideInAnyPackage("org.stele.tserver", "org.stele.tserver.cli.."))
        .because("the composition root knows all parts; only the commands that run it know it")
        .allowEmptyShould(true)
        .check(MAIN);
  }

  @Test
  void benchIsImportedByNobody() {
    noClasses()
        .that()
        .resideOutsideOfPackage("org.stele.tserver.bench..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.stele.tserver.bench..")
        .because("the load generator is a user of the system, not a part of it")
        .allowEmptyShould(true)
        .check(MAIN);
  }

  @Test
  void writePathKnowsNoTablets() {
    noClasses()
        .that()
        .resideInAnyPackage("org.stele.tserver.write..", "org.stele.tserver.wal..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.stele.tserver.tablet..")
        .because(
            "the commit pipeline and the log see tablets through a small interface of their own")
        .allowEmptyShould(true)
        .check(MAIN);
  }
}
