import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from "yaml";

import { MAX_FINDINGS, type Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import {
  duplicateProperty,
  FILE_LIMITS,
  MAX_SOURCE_DEPTH,
  pointerTo,
  stopAtFault,
  tooDeep,
  tooManyValues,
  type Member,
  type ParsedSource,
  type SourceNode,
} from "./source.ts";
import { composeYaml, malformedYaml } from "./yaml-document.ts";

/**
 * Reads one YAML 1.2 document that says no more than JSON can: no aliases, no tags, every property name a plain scalar. Everything else as `readJson`.
 */
export function readYaml(text: string, lines: LineIndex, limits = FILE_LIMITS): ParsedSource {
  return stopAtFault(lines, () => {
    const findings: Finding[] = [];
    const root = convert(composeYaml(text, limits.lexemes), {
      pointer: "",
      depth: 0,
      count: { values: 0 },
      findings,
      lines,
      maxValues: limits.values,
    });
    return { root, findings };
  });
}

interface Place {
  readonly pointer: string;
  /** Objects and arrays around it. */
  readonly depth: number;
  readonly count: { values: number };
  readonly findings: Finding[];
  readonly lines: LineIndex;
  readonly maxValues: number;
}

function convert(node: ParsedNode, place: Place): SourceNode {
  const start = node.range[0];
  place.count.values += 1;
  if (place.count.values > place.maxValues) {
    throw tooManyValues(start, place.maxValues);
  }
  if (place.depth === MAX_SOURCE_DEPTH && !isScalar(node)) {
    throw tooDeep(start);
  }
  if (isAlias(node)) {
    throw malformedYaml(start, "aliases are not taken here; write the value out");
  }
  if (isMap(node)) {
    return { kind: "object", start, members: members(node, place) };
  }
  if (isSeq(node)) {
    const item = (value: ParsedNode, index: number): SourceNode =>
      convert(value, inside(place, index));
    return { kind: "array", start, items: node.items.map(item) };
  }
  return { kind: "scalar", start, value: scalarValue(node, start) };
}

function inside(place: Place, step: string | number): Place {
  return { ...place, pointer: pointerTo(place.pointer, step), depth: place.depth + 1 };
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

function members(map: YAMLMap.Parsed, place: Place): Map<string, Member> {
  const found = new Map<string, Member>();
  for (const { key, value } of map.items) {
    const keyStart = key.range[0];
    const name = nameOf(key);
    if (name === null) {
      throw malformedYaml(keyStart, "a property's name must be a word here; write it in quotes");
    }
    const first = found.get(name);
    // one more than is listed, so that cutting them off is noticed
    if (first !== undefined && place.findings.length <= MAX_FINDINGS) {
      const at = { name, parent: place.pointer, offset: keyStart, firstOffset: first.keyStart };
      place.findings.push(duplicateProperty(place.lines, at));
    }
    const node: SourceNode =
      value === null
        ? { kind: "scalar", start: keyStart, value: null }
        : convert(value, inside(place, name));
    found.set(name, { keyStart, value: node });
  }
  return found;
}

/** Numbers and the like as they are written; null if there is no name. */
function nameOf(key: ParsedNode): string | null {
  if (!isScalar(key) || key.value === null) {
    return null;
  }
  return typeof key.value === "string" ? key.value : (key.source ?? null);
}
