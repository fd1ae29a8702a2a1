/**
 * How many words of a command may be allowed for longer: the shortest beginning that says what is done, whatever
 * follows it. Null for most commands: a program that starts others, writes to files that its options name, or reads
 * any file must be asked about each time, or be named by the user's own rule.
 *
 * Those below build, test or check the folder's own project, so they run its code in any case, or only list.
 */
export function safePrefix(words: readonly string[]): readonly string[] | null {
  const [program = "", action = "", object = ""] = words;
  const { alone = false, actions = [], withObject = [] } = PROGRAMS.get(program) ?? {};
  if (actions.includes(action)) {
    return [program, action];
  }
  if (withObject.includes(action) && isName(object)) {
    return [program, action, object];
  }
  if (alone) {
    return [program];
  }
  // a target; an option or a variable could name another file or a shell
  return program === "make" && isName(action) ? [program, action] : null;
}

interface Program {
  /** True if every action of it is one of these. */
  readonly alone?: boolean;
  readonly actions?: readonly string[];
  /** Actions that are named with what they act on, such as a script. */
  readonly withObject?: readonly string[];
}

const SCRIPTS: Program = { actions: ["test"], withObject: ["run"] };
const GRADLE: Program = { actions: ["assemble", "build", "check", "test"] };

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["bun", SCRIPTS],
  ["cargo", { actions: ["bench", "build", "check", "clippy", "fmt", "test"] }],
  ["dotnet", { actions: ["build", "test"] }],
  ["git", { actions: ["status"] }],
  ["go", { actions: ["build", "fmt", "test", "vet"] }],
  ["./gradlew", GRADLE],
  ["gradle", GRADLE],
  ["ls", { alone: true }],
  ["mvn", { actions: ["compile", "test", "verify"] }],
  ["npm", SCRIPTS],
  ["pnpm", SCRIPTS],
  ["pwd", { alone: true }],
  ["pytest", { alone: true }],
  ["vitest", { actions: ["run"] }],
  ["yarn", SCRIPTS],
]);

function isName(word: string): boolean {
  return /^[A-Za-z][\w.:-]*$/.test(word);
}
