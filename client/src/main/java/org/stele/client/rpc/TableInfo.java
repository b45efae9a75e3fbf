package org.stele.client.rpc;

import java.util.Map;

/** A table as the coordinator describes it. */
public record TableInfo(String name, String id, Map<String, String> settings) {}
