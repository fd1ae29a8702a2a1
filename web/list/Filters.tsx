import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { Button } from "../parts/Button.tsx";
import { changeQuery } from "../route.ts";
import { type Filters as Limits, hasFilter, SHOWN_STATES } from "./filters.ts";
import { STATE_TEXTS } from "./state-text.ts";

interface FiltersProps {
  readonly filters: Limits;
  /** Folders and models of the sessions that are listed. */
  readonly folders: readonly string[];
  readonly models: readonly string[];
}

/** Milliseconds without a key before the list is filtered by what was typed. */
const PAUSE_MS = 200;

/** What limits the list. All of it is in the address, so that it can be kept and sent. `/` goes to the text. */
export function Filters({ filters, folders, models }: FiltersProps): JSX.Element {
  return (
    <search class="filters">
      <BeginningOfTitle title={filters.title} />
      <Choice
        label="State"
        name="state"
        value={filters.state}
        choices={SHOWN_STATES.map((state) => [state, STATE_TEXTS[state]])}
        any="Any state"
      />
      <Choice
        label="Folder"
        name="folder"
        value={filters.folder}
        choices={withChosen(folders, filters.folder).map((folder) => [folder, folder])}
        any="Any folder"
      />
      <Choice
        label="Model"
        name="model"
        value={filters.model}
        choices={withChosen(models, filters.model).map((model) => [model, model])}
        any="Any model"
      />
      <Choice
        label="Archive"
        name="archived"
        value={filters.archived}
        choices={[
          ["only", "Archived"],
          ["all", "All, with archived"],
        ]}
        any="Not archived"
      />
      {hasFilter(filters) ? (
        <Button
          kind="quiet"
          onClick={() => {
            changeQuery({ title: null, state: null, folder: null, model: null, archived: null });
            // this button goes away
            document.querySelector<HTMLElement>(".filters input")?.focus();
          }}
        >
          Clear
        </Button>
      ) : null}
    </search>
  );
}

function BeginningOfTitle({ title }: Pick<Limits, "title">): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key === "/" && !isTyping(event.target)) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const typed = useSignal(title ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // the address has changed by a link or the browser's own buttons
    if (typed.peek().trim() !== (title ?? "")) {
      typed.value = title ?? "";
    }
  }, [title]);
  return (
    <input
      ref={input}
      type="search"
      aria-label="Beginning of the title or name"
      placeholder="Title or name begins with … (/)"
      maxLength={255}
      dir="auto"
      value={typed.value}
      onInput={({ currentTarget: { value } }) => {
        typed.value = value;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => changeQuery({ title: value.trim() }), PAUSE_MS);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && typed.value !== "") {
          event.preventDefault();
          clearTimeout(timer.current);
          typed.value = "";
          changeQuery({ title: null });
        }
      }}
    />
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | null;
  /** Each value with its text. */
  readonly choices: readonly (readonly [string, string])[];
  readonly any: string;
}

function Choice({ label, name, value, choices, any }: ChoiceProps): JSX.Element {
  return (
    <select
      aria-label={label}
      class={value === null ? "" : "chosen"}
      value={value ?? ""}
      onChange={({ currentTarget }) => changeQuery({ [name]: currentTarget.value })}
    >
      <option value="">{any}</option>
      {choices.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** What the address names is offered, also if no listed session has it. */
function withChosen(values: readonly string[], chosen: string | null): readonly string[] {
  return chosen === null || values.includes(chosen) ? values : [chosen, ...values];
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, [contenteditable], dialog") !== null
  );
}
