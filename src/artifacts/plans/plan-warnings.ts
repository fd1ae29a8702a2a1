import { posix } from "node:path";

import { controlFileIn } from "../../core/files/control-files.ts";
import type { FindingCode } from "../../core/schemas/artifact-schemas.ts";
import type { OffsetFinding } from "../finding.ts";
import { layerPhases } from "./layers.ts";
import type { OutlinedPhase } from "./plan-outline.ts";
import { quote } from "../../core/text/terminal-text.ts";
import { sharedPaths } from "./shared-paths.ts";

/** Says what is wrong with the path of an artifact by itself, as a code and a sentence; null if nothing. */
export function pathProblem(path: string): readonly [FindingCode, string] | null {
  if (/^(?:[\\/]|[a-z]:)/i.test(path)) {
    return [
      "artifact_path_absolute",
      "the artifact's path is absolute; write it relative to the project's folder",
    ];
  }
  if (/^~[^\\/]*(?:[\\/]|$)/.test(path.trim())) {
    return [
      "artifact_path_outside",
      "the artifact's path begins with ~, which a shell takes for a home folder; write it relative to the project's folder",
    ];
  }
  const normal = normalPath(path);
  if (normal === "." || normal.endsWith("/")) {
    return ["artifact_path_empty", "the artifact's path names no file; write the file's path"];
  }
  if (normal === ".." || normal.startsWith("../")) {
    return [
      "artifact_path_outside",
      "the artifact's path leaves the project's folder; choose one in it",
    ];
  }
  const control = controlFileIn(normal.split("/"));
  if (control === null) {
    return null;
  }
  const message = `the artifact's path is protected (${control.name}: ${control.reason}); choose another`;
  return ["artifact_path_protected", message];
}

/**
 * Returns one text for all paths that may be one file: some file systems take names that differ in case, or in their
 * Unicode form, for one.
 */
export function comparedPath(path: string): string {
  return normalPath(path).normalize("NFC").toLowerCase();
}

/** A path without `.`, `..` and doubled slashes; `.` if it is empty. */
function normalPath(path: string): string {
  return posix.normalize(path.trim().replaceAll("\\", "/"));
}

/**
 * Warns of what a plan may say and no run of it could want: artifacts at paths that cannot be
 * written, or that phases share which can run side by side, and dependencies that are named twice.
 */
export function checkWarnings(phases: readonly OutlinedPhase[]): OffsetFinding[] {
  return [...phases.flatMap(phaseWarnings), ...sharedPathWarnings(phases)];
}

/** The warnings of a phase by itself. */
export function phaseWarnings(phase: OutlinedPhase, index: number): OffsetFinding[] {
  return [...pathWarning(phase, index), ...repeatedDependencies(phase, index)];
}

function pathWarning({ artifactPath }: OutlinedPhase, index: number): OffsetFinding[] {
  const problem = artifactPath === null ? null : pathProblem(artifactPath.text);
  if (artifactPath === null || problem === null) {
    return [];
  }
  const [code, message] = problem;
  const { offset } = artifactPath;
  return [{ code, severity: "warning", pointer: pathPointer(index), offset, message }];
}

function pathPointer(index: number): string {
  return `/phases/${index}/expected_artifact/path`;
}

function repeatedDependencies({ dependsOn }: OutlinedPhase, index: number): OffsetFinding[] {
  const seen = new Set<string>();
  return dependsOn.flatMap((name, entry) => {
    if (name === null || !seen.has(name.text)) {
      seen.add(name?.text ?? "");
      return [];
    }
    const pointer = `/phases/${index}/depends_on/${entry}`;
    const message = `depends_on names the phase ${quote(name.text)} twice; remove one entry`;
    const { offset } = name;
    return { code: "duplicate_dependency", severity: "warning", pointer, offset, message };
  });
}

/** Only of a plan whose phases can be put in an order. */
function sharedPathWarnings(phases: readonly OutlinedPhase[]): OffsetFinding[] {
  const layers = layerPhases(
    phases.map(({ key, dependsOn }, index) => ({
      key: key?.text ?? `/${index}`,
      depends_on: dependsOn.flatMap((name) => (name === null ? [] : [name.text])),
    })),
  );
  if (layers === null) {
    return [];
  }
  const paths = phases.map(({ artifactPath }) => {
    return artifactPath === null ? null : comparedPath(artifactPath.text);
  });
  return sharedPaths(paths, layers).map(({ phase, other }) =>
    sharedPathWarning(phases[phase], { index: phase, other: phases[other]?.key?.text }),
  );
}

/** The warning of a phase whose path the phase with the key `other` has. */
export function sharedPathWarning(
  phase: OutlinedPhase | undefined,
  { index, other = "" }: { readonly index: number; readonly other: string | undefined },
): OffsetFinding {
  const offset = phase?.artifactPath?.offset ?? 0;
  const pointer = pathPointer(index);
  const message = `the phase ${quote(other)} writes this artifact too and can run side by side; choose another path, or let one depend on the other`;
  return { code: "artifact_path_shared", severity: "warning", pointer, offset, message };
}
