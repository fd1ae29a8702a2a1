import { oneLine } from "../../../core/text/terminal-text.ts";
import type { PersonaSurvey } from "../../../rules/personas/list.ts";
import { isBroken } from "../../../rules/personas/persona.ts";
import { type Measure, measureFor } from "../text/measure.ts";
import { type Column, tableRows } from "../text/table.ts";
import type { Theme } from "../text/theme.ts";

type Entry = PersonaSurvey["entries"][number];

/** Personas as a table of the terminal's width, with their notes below them; `about` says what one is for. */
export async function personaRows(
  { entries }: PersonaSurvey,
  view: { width: number; theme: Theme; about: (entry: Entry) => string },
): Promise<string[]> {
  const { width, theme, about } = view;
  const columns: readonly Column<Entry>[] = [
    {
      heading: "NAME",
      cell: ({ name }) => ({ texts: [oneLine(name)] }),
      priority: 0,
      min: 12,
      good: 30,
    },
    {
      heading: "FROM",
      cell: ({ source }) => ({ texts: [source], style: theme.dim }),
      priority: 2,
      min: 10,
    },
    {
      heading: "DESCRIPTION",
      cell: (entry) => ({
        texts: [about(entry)],
        ...(isBroken(entry) ? { style: theme.error } : {}),
      }),
      priority: 1,
      min: 20,
    },
  ];
  const measure = await measureFor(
    entries.flatMap((entry) => [oneLine(entry.name), about(entry), ...notesOf(entry)]),
  );
  const [heading = "", ...rows] = tableRows(columns, entries, { width, theme, measure });
  return [
    heading,
    ...entries.flatMap((entry, index) => [
      rows[index] ?? "",
      ...notesOf(entry).map((note) => noteRow(note, { width, theme, measure })),
    ]),
  ];
}

function notesOf(entry: Entry): readonly string[] {
  return isBroken(entry) ? [] : entry.notes.map((note) => `note: ${oneLine(note)}`);
}

function noteRow(note: string, view: { width: number; theme: Theme; measure: Measure }): string {
  const { width, theme, measure } = view;
  return `  ${theme.warning(measure.cut(note, Math.max(1, width - 2)))}`;
}
