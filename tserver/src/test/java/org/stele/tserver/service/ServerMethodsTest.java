package org.stele.tserver.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.stele.core.thrift.AssignmentService;
import org.stele.core.thrift.MetadataService;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.TableService;
import org.stele.core.thrift.TabletService;

class ServerMethodsTest {
  private static final List<Class<?>> SERVICES =
      List.of(
          TabletService.Iface.class,
          TableService.Iface.class,
          ServerService.Iface.class,
          MetadataService.Iface.class,
          AssignmentService.Iface.class);

  @Test
  void everyMethodOfTheIdlIsServedUnderBothNames() {
    Set<String> wanted = new TreeSet<>();
    for (Class<?> service : SERVICES) {
      for (Method method : service.getMethods()) {
        wanted.add(method.getName());
        wanted.add(service.getEnclosingClass().getSimpleName() + ":" + method.getName());
      }
    }
    Set<String> served =
        ServerMethods.of(
                new ServerMethods.Stages(
                    null, null, null, null, null, null, null, null, null, null, null, null, null))
            .names();
    assertEquals(wanted, new TreeSet<>(served));
  }
}
