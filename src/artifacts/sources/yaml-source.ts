import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from "yaml";

import type { LineIndex } from "../line-index.ts";
import { SourceBuilder } from "./source-builder.ts";
import {
  FILE_LIMITS,
  stopAtError,
  type Member,
  type ParsedSource,
  type SourceNode,
} from "./source.ts";
import { composeYaml, malformedYaml } from "./yaml-document.ts";

/**
 * Reads one YAML 1.2 document that says no more than JSON can: no aliases, no tags, every property
 * name a plain scalar. Everything else as `readJson`.
 */
export function readYaml(text: string, lines: LineIndex, limits = FILE_LIMITS): ParsedSource {
  return stopAtError(lines, () => {
    const builder = new SourceBuilder(lines, limits.values);
    const root = convert(composeYaml(text, limits.lexemes), builder);
    return { root, findings: builder.findings };
  });
}

function convert(node: ParsedNode, builder: SourceBuilder): SourceNode {
  const start = node.range[0];
  builder.count(start, { isNested: !isScalar(node) });
  if (isAlias(node)) {
    throw malformedYaml(start, "aliases are not taken here; write the value out");
  }
  if (isMap(node)) {
    return { kind: "object", start, members: members(node, builder) };
  }
  if (isSeq(node)) {
    const item = (value: ParsedNode, index: number): SourceNode =>
      builder.inside(index, () => convert(value, builder));
    return { kind: "array", start, items: node.items.map(item) };
  }
  return { kind: "scalar", start, value: scalarValue(node, start) };
}

function scalarValue(
  { value, source = "" }: Scalar,
  start: number,
): string | number | boolean | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") {
    return value;
  }
  if (typeof value === "number") {
    if (/^[-+]?\.(?:inf|nan)$/i.test(source)) {
      throw malformedYaml(start, `JSON has no number ${source}; write another value`);
    }
    return value;
  }
  throw malformedYaml(start, "only strings, numbers, true, false and null are taken here");
}

function members(map: YAMLMap.Parsed, builder: SourceBuilder): Map<string, Member> {
  const found = new Map<string, Member>();
  for (const { key, value } of map.items) {
    const keyStart = key.range[0];
    const name = nameOf(key);
    if (name === null) {
      throw malformedYaml(keyStart, "a property's name must be a word here; write it in quotes");
    }
    builder.addMember(found, { name, keyStart }, () =>
      value === null ? { kind: "scalar", start: keyStart, value } : convert(value, builder),
    );
  }
  return found;
}

/** The source text of numbers and other scalars; null if there is no name. */
function nameOf(key: ParsedNode): string | null {
  if (!isScalar(key) || key.value === null) {
    return null;
  }
  return typeof key.value === "string" ? key.value : (key.source ?? null);
}
