package org.stele.core.sortedfile;

/** What was written: the file's length in bytes and its properties. */
public record SortedFileSummary(String path, long length, SortedFileProperties properties) {}
