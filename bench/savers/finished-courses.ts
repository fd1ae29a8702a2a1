import { readFileSync, rmSync, writeFileSync } from "node:fs";

import type { Course } from "./course.ts";

const FILE = new URL("unfinished-run.json", import.meta.url);

interface Run {
  readonly commit: string;
  readonly scale: number;
  readonly courses: Record<string, Course>;
}

/** Keeps what a run has measured, so that one that was interrupted is continued: all of it takes hours. */
export function finishedCourses({ commit, scale }: Pick<Run, "commit" | "scale">) {
  const earlier = readRun();
  const isSame = earlier?.commit === commit && earlier.scale === scale;
  const courses: Record<string, Course> = isSame ? earlier.courses : {};
  return {
    /** How many an earlier run left. */
    count: Object.keys(courses).length,
    /** The course of this name, run unless an earlier run finished it. */
    async take(name: string, run: () => Promise<Course>): Promise<Course> {
      const course = courses[name] ?? (await run());
      courses[name] = course;
      const unfinished: Run = { commit, scale, courses };
      writeFileSync(FILE, JSON.stringify(unfinished));
      return course;
    },
    /** Called once all are finished. */
    forget: (): void => rmSync(FILE, { force: true }),
  };
}

function readRun(): Run | null {
  try {
    const run: Run = JSON.parse(readFileSync(FILE, "utf8"));
    return run;
  } catch {
    return null;
  }
}
