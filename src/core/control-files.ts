/** A file or folder that other programs execute or obey. */
export interface ControlFile {
  /** Its name in any folder; steps of a path with `/` between them. */
  readonly name: string;
  /** Why an agent may not write it, as the end of a sentence. */
  readonly reason: string;
  /** Whether a person's consent cannot change that. */
  readonly never: boolean;
}

/** The one table of files and folders that are protected, at every depth and in every spelling. */
export const CONTROL_FILES: readonly ControlFile[] = [
  { name: ".git", reason: "git runs hooks and settings in it", never: true },
  { name: ".reprise", reason: "it holds personas and schemas of Reprise", never: true },
  { name: ".claude", reason: "it holds settings and agents of Claude Code", never: true },
  { name: ".agents", reason: "it holds agents of other programs", never: true },
  { name: ".codex", reason: "it holds settings of Codex", never: true },
  { name: "AGENTS.md", reason: "agents obey it", never: false },
  { name: "CLAUDE.md", reason: "Claude Code obeys it", never: false },
  { name: ".mcp.json", reason: "it names servers that agents start", never: false },
  { name: ".vscode", reason: "the editor runs tasks in it", never: false },
  { name: ".idea", reason: "the editor runs configurations in it", never: false },
  { name: ".envrc", reason: "direnv runs it", never: false },
  { name: ".github/workflows", reason: "GitHub runs it", never: false },
  { name: ".husky", reason: "git hooks run it", never: false },
  { name: ".npmrc", reason: "npm obeys it", never: false },
  { name: ".gitattributes", reason: "git obeys it", never: false },
  { name: ".gitmodules", reason: "git obeys it", never: false },
];

/** The protected file or folder that a path is, or is in; null if there is none. */
export function controlFileIn(path: string): ControlFile | null {
  const steps = `/${path
    .split(/[\\/]+/)
    .map(plainStep)
    .join("/")}/`;
  return CONTROL_FILES.find(({ name }) => steps.includes(`/${name.toLowerCase()}/`)) ?? null;
}

/** File systems ignore case, Unicode forms, and dots and spaces at the end; some hide characters. */
function plainStep(step: string): string {
  return step
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    .replace(/[. ]+$/, "");
}
