/** Instructions for a kind of work, which a model reads when it needs them. */
export interface Skill {
  readonly name: string;
  /** On one line, and clean. */
  readonly description: string;
  readonly source: SkillSource;
  /** What `read_file` takes as a path. */
  readonly path: string;
  /** Its folder, whose other files can be read too. */
  readonly folder: string;
}

/** A message that a person sends by a name. */
export interface PromptCommand {
  readonly name: string;
  /** On one line, and clean; empty without one. */
  readonly description: string;
  /** Its file, as a person knows it. */
  readonly path: string;
  readonly text: string;
}

export type SkillSource = "repository" | "user";

/** A file that is not used, and why: a part of a sentence. Both are clean. */
export interface Unused {
  readonly path: string;
  readonly reason: string;
  /** True if it is one of a folder that is not trusted. */
  readonly isWithheld?: true;
}

export interface SkillSurvey {
  /** Sorted by name, each name once. */
  readonly skills: readonly Skill[];
  readonly commands: readonly PromptCommand[];
  readonly unused: readonly Unused[];
}

/** Skills that a model is offered, and commands. */
export const MAX_SKILLS = 50;
/** Characters of a description. */
export const MAX_DESCRIPTION = 500;
/** Bytes of a file. */
export const MAX_SKILL_BYTES = 256 * 1024;
/** All of it is shown before it is sent. */
export const MAX_COMMAND_BYTES = 16 * 1024;
