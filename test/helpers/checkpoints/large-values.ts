/** A large value of an agent's state, and how a step changes a little of it. */
export interface LargeValue {
  make(size: number): unknown;
  edit(value: never): unknown;
}

/** Values as agents keep them: files as texts and as deepagents has them, lists of records. */
export function largeValues(random: () => number): Readonly<Record<string, LargeValue>> {
  const below = (end: number): number => Math.floor(random() * end);
  const word = (): string => below(36 ** 6).toString(36);
  const line = (): string => Array.from({ length: 3 + below(8) }, word).join(" ");
  const lines = (size: number): string[] => {
    const all: string[] = [];
    for (let length = 0; length < size; length += 1 + (all.at(-1)?.length ?? 0)) {
      all.push(line());
    }
    return all;
  };
  /** With one element changed, put in before the first or somewhere, or removed. */
  const edited = <T>(list: readonly T[], fresh: () => T): T[] => {
    const place = random() < 0.3 ? 0 : below(list.length);
    return list.toSpliced(place, below(2), ...(random() < 0.7 ? [fresh()] : []));
  };
  const editedText = (text: string): string => edited(text.split("\n"), line).join("\n");
  const file = (content: string[]) => ({
    content,
    created_at: "2026-11-22T08:00:00.000Z",
    modified_at: new Date(below(1e12)).toISOString(),
  });
  const editedFile = ({ content }: { content: string[] }) => file(edited(content, line));
  const record = () => ({
    id: word(),
    title: line(),
    tags: [word(), word()],
    note: lines(130).join(" "),
    done: random() < 0.5,
  });
  const many = <T>(make: (size: number) => T) => ({
    make: (size: number) =>
      Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`/src/${index}.txt`, make(size / 20)]),
      ),
  });
  const editedOf =
    <T>(edit: (value: T) => T) =>
    (files: Readonly<Record<string, T>>) => {
      const [path, value] = Object.entries(files)[below(Object.keys(files).length)]!;
      return { ...files, [path]: edit(value) };
    };
  const text = (size: number): string => lines(size).join("\n");
  return {
    "20 files": { ...many(text), edit: editedOf(editedText) },
    "one text": { make: text, edit: editedText },
    "one line": {
      make: (size) => lines(size).join(""),
      edit: (value: string) => {
        const place = below(value.length);
        return value.slice(0, place) + word() + value.slice(place + below(5));
      },
    },
    "one file as a list of lines": {
      make: (size) => ({ "/notes.md": file(lines(size)) }),
      edit: editedOf(editedFile),
    },
    "20 files as lists of lines": {
      ...many((size) => file(lines(size))),
      edit: editedOf(editedFile),
    },
    "a list of records": {
      make: (size) => Array.from({ length: size / 250 }, record),
      edit: (list: unknown[]) => edited(list, record),
    },
    "a log that grows": { make: text, edit: (value: string) => `${value}\n${line()}` },
  };
}
