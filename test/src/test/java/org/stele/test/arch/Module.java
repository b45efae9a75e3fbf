package org.stele.test.arch;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The Maven modules that hold Java code, from the one all may use to the one that may use all. */
enum Module {
  CORE("core", "org.stele.core"),
  CLIENT("client", "org.stele.client"),
  SERVER_BASE("server-base", "org.stele.server"),
  TSERVER("tserver", "org.stele.tserver"),
  TEST("test", "org.stele.test");

  final String folder;
  final String rootPackage;

  Module(String folder, String rootPackage) {
    this.folder = folder;
    this.rootPackage = rootPackage;
  }

  /** All packages of this module, as an ArchUnit package pattern. */
  String packages() {
    return rootPackage + "..";
  }

  boolean owns(JavaClass javaClass) {
    return javaClass.getPackageName().equals(rootPackage)
        || javaClass.getPackageName().startsWith(rootPackage + ".");
  }

  JavaClasses mainClasses() {
    return importFolders(List.of(target().resolve("classes")));
  }

  /** The classes that are delivered: those of all modules but {@link #TEST}. */
  static JavaClasses allMainClasses() {
    return importFolders(
        Arrays.stream(values())
            .filter(module -> module != TEST)
            .map(module -> module.target().resolve("classes"))
            .toList());
  }

  /** The tests of all modules, and what {@link #TEST} has for them. */
  static JavaClasses allTestClasses() {
    List<Path> folders = new ArrayList<>();
    for (Module module : values()) {
      folders.add(module.target().resolve("test-classes"));
    }
    folders.add(TEST.target().resolve("classes"));
    return importFolders(folders);
  }

  private Path target() {
    Path testModule = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    return testModule.resolveSibling(folder).resolve("target");
  }

  private static JavaClasses importFolders(List<Path> folders) {
    return new ClassFileImporter()
        .importPaths(folders.stream().filter(Files::isDirectory).toList());
  }
}
