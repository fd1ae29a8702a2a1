/** How text looks. Each function takes cleaned text and returns it with the sequences of the terminal. */
export interface Theme {
  readonly name: "dark" | "light" | "none";
  bold(text: string): string;
  italic(text: string): string;
  /** Less important than the rest. */
  dim(text: string): string;
  /** Marks what the program wants to be seen first: the prompt, a choice, a heading. */
  accent(text: string): string;
  code(text: string): string;
  success(text: string): string;
  warning(text: string): string;
  error(text: string): string;
  /** Lines of a diff. */
  added(text: string): string;
  removed(text: string): string;
  /** The row of a list that a key acts on. */
  selected(text: string): string;
  /** OSC 8, for `http`, `https` and `file` addresses; the text alone for others, and without styles. */
  link(text: string, url: string): string;
}
