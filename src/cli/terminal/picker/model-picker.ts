import type { ModelInfo } from "../../../core/schemas/service-schemas.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import type { PickedModel } from "../../chat/front.ts";
import { modelFactTexts } from "../../output/model-facts.ts";
import { fuzzyFilter } from "../pi/fuzzy.ts";
import { matchesKey } from "../pi/keys.ts";
import { visibleWidth } from "../pi/text.ts";
import type { FullView } from "../screen/screen.ts";
import { pasted, typed } from "../screen/typed-text.ts";
import { cell, cut, endOf, spread } from "../text/fit.ts";
import type { Theme } from "../text/theme.ts";
import { isLeaving, moveOf } from "./picker-keys.ts";

export interface ModelPickerOptions {
  readonly theme: Theme;
  readonly models: readonly ModelInfo[];
  /** The session's model, which is selected first; null if it has none. */
  readonly current: string | null;
  readonly on: { changed(): void; done(picked: PickedModel | null): void };
}

const MAX_QUERY = 200;
const FIELD = "Search: ";
const KEYS = "Enter keep the conversation  ^F fresh context  Esc leave";
const SHORT_KEYS = "Enter keep  ^F fresh  Esc leave";
/** Columns before the facts at most, as a part of the row. A longer name is not cut for them. */
const NAME_PART = 0.5;
/** In fewer columns a separate row has the facts about the selected model, if there are so many rows. */
const MIN_COLUMNS = 60;
const MIN_ROWS = 6;

/** Chooses a model: what is typed searches, Enter takes the conversation along, Ctrl-F begins a fresh context. */
export function createModelPicker(options: ModelPickerOptions): FullView {
  const { theme, models, current, on } = options;
  let query = "";
  let found = models;
  let selected = Math.max(
    0,
    models.findIndex(({ name }) => name === current),
  );
  let height = 24;
  /** The model that is selected on the screen: a key that comes before it was drawn chooses nothing. */
  let drawn: ModelInfo | undefined;

  const searchFor = (text: string): void => {
    if (text !== query) {
      query = text;
      found = search(models, query);
      selected = 0;
      drawn = undefined;
    }
  };
  const choose = (keeps: boolean): void => {
    if (drawn !== undefined) {
      on.done({ model: drawn.name, keeps });
    }
  };
  return {
    rows: (width, rows) => {
      height = rows;
      drawn = found[selected];
      const count = found.length === 0 ? "none" : `${selected + 1} of ${found.length}`;
      const head = [
        spread(theme.bold("Another model"), theme.dim(count), width),
        `${theme.accent(FIELD)}${endOf(query, width - FIELD.length - 1)}${theme.name === "none" ? "_" : theme.selected(" ")}`,
      ];
      const keys = width < visibleWidth(KEYS) ? SHORT_KEYS : KEYS;
      const isNarrow = width < MIN_COLUMNS && rows >= MIN_ROWS;
      const facts = drawn === undefined ? "" : factsOf(drawn, current);
      const about = isNarrow ? [theme.dim(facts)] : [];
      const room = Math.max(0, rows - head.length - about.length - 1);
      const first = Math.max(
        0,
        Math.min(selected - Math.floor(room / 2), Math.max(0, found.length - room)),
      );
      const listed = found
        .slice(first, first + room)
        .map((model, at) =>
          modelRow(model, { ...options, width, models, isNarrow, at: first + at, selected }),
        );
      const empty = found.length === 0 ? [theme.dim("No model has this name.")] : listed;
      const padding = Array.from({ length: Math.max(0, room - empty.length) }, () => "");
      return [...head, ...empty, ...padding, ...about, theme.dim(keys)]
        .slice(0, rows)
        .map((row) => cut(row, width));
    },
    key: (key) => {
      const move = moveOf(key, Math.max(1, Math.floor(height / 2)));
      if (move !== null) {
        selected = Math.max(0, Math.min(selected + move, found.length - 1));
        drawn = found[selected];
      } else if (matchesKey(key, "enter")) {
        choose(true);
      } else if (matchesKey(key, "ctrl+f")) {
        choose(false);
      } else if (isLeaving(key)) {
        on.done(null);
      } else {
        searchFor(typed(query, key, MAX_QUERY) ?? query);
      }
      on.changed();
    },
    paste: (text) => searchFor(pasted(query, text, MAX_QUERY)),
  };
}

interface RowOptions extends Pick<ModelPickerOptions, "theme" | "models" | "current"> {
  readonly width: number;
  /** True for its name alone. */
  readonly isNarrow: boolean;
  /** Its place in the list, and that of the selected one. */
  readonly at: number;
  readonly selected: number;
}

function modelRow(model: ModelInfo, options: RowOptions): string {
  const { theme, models, current, width, isNarrow, at, selected } = options;
  const widest = Math.max(...models.map(({ name }) => visibleWidth(oneLine(name))));
  const columns = Math.min(widest, Math.floor(width * NAME_PART));
  const name = oneLine(model.name);
  const padded = visibleWidth(name) > columns ? name : cell(name, columns);
  const row = isNarrow ? name : `${padded}  ${factsOf(model, current)}`;
  return at === selected ? theme.selected(`> ${row}`) : `  ${row}`;
}

function factsOf(model: ModelInfo, current: string | null): string {
  return [...modelFactTexts(model, new Date()), ...(model.name === current ? ["now"] : [])].join(
    " · ",
  );
}

/** Models whose names contain each word; if there are none, those that have its letters in this order. */
function search(models: readonly ModelInfo[], query: string): readonly ModelInfo[] {
  const words = query.toLowerCase().split(/\s+/);
  const found = models.filter(({ name }) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  return found.length > 0 ? found : fuzzyFilter([...models], query, ({ name }) => name);
}
