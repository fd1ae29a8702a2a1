import { readFileSync, rmSync, writeFileSync } from "node:fs";

import type { Course } from "./course.ts";

type Courses = Record<string, Course>;

/** Keeps what a run has measured, so that one that was interrupted is continued: all of it takes hours. */
export function finishedCourses(of: { readonly commit: string; readonly scale: number }) {
  // a run at another scale must not take its place
  const file = new URL(`unfinished-run-${of.commit}-${of.scale}.json`, import.meta.url);
  const courses = readCourses(file);
  return {
    /** How many an earlier run left. */
    count: Object.keys(courses).length,
    /** The course of this name, run unless an earlier run finished it. */
    async take(name: string, run: () => Promise<Course>): Promise<Course> {
      const course = courses[name] ?? (await run());
      courses[name] = course;
      writeFileSync(file, JSON.stringify(courses));
      return course;
    },
    /** Called once all are finished. */
    forget: (): void => rmSync(file, { force: true }),
  };
}

function readCourses(file: URL): Courses {
  try {
    const courses: Courses = JSON.parse(readFileSync(file, "utf8"));
    return courses;
  } catch {
    return {};
  }
}
