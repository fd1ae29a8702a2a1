import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { SearchOptions, SearchPage } from "../../src/entries/client.ts";
import { client } from "../api.ts";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Link } from "../parts/Link.tsx";
import { Time } from "../parts/Time.tsx";
import { useCall, useRead } from "../parts/use-call.tsx";
import { place } from "../route.ts";
import { isSearching } from "./is-searching.ts";
import { incompleteSentence, markedParts } from "./search-text.ts";

type Result = SearchPage["results"][number];
type Role = NonNullable<SearchOptions["role"]>;

const ROLES: Readonly<Record<Role, string>> = {
  user: "What people wrote",
  assistant: "Answers",
  tool: "Results of tools",
};

/** Milliseconds without a key before what was typed is searched. */
const PAUSE_MS = 250;

/** In a dialog: finds messages, names and titles in all sessions. A result opens its session at that message. */
export function Search(): JSX.Element {
  const onClose = (): void => {
    isSearching.value = false;
  };
  const role = useSignal<Role | null>(null);
  const typed = useSignal("");
  const query = useSignal("");
  const later = useSignal<SearchPage | null>(null);
  const more = useCall();
  const options = role.value === null ? {} : { role: role.value };
  const { value, problem, again } = useRead<SearchPage | null>(
    async () => (query.value === "" ? null : client.searchMessages(query.value, options)),
    null,
    [query.value, role.value],
  );
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    later.value = null;
  }, [value]);
  const opened = useRef(place.peek());
  useSignalEffect(() => {
    if (place.value !== opened.current) {
      onClose();
    }
  });
  const search = (text: string): void => {
    clearTimeout(timer.current);
    query.value = text.replaceAll('"', "").trim() === "" ? "" : text;
  };
  const results = [...(value?.results ?? []), ...(later.value?.results ?? [])];
  const last = later.value ?? value;
  return (
    <Dialog title="Search messages" onClose={onClose}>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          search(typed.value);
        }}
      >
        <input
          type="search"
          aria-label="Words that a message has"
          placeholder={'Words, or "words in this order"'}
          maxLength={255}
          dir="auto"
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
            clearTimeout(timer.current);
            timer.current = setTimeout(() => search(typed.value), PAUSE_MS);
          }}
        />
        <select
          aria-label="Written by"
          value={role.value ?? ""}
          onChange={({ currentTarget }) => {
            role.value = roleOf(currentTarget.value);
          }}
        >
          <option value="">Everything</option>
          {Object.entries(ROLES).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </form>
      {problem ?? more.problem}
      <output class="muted">{value === null ? "" : countOf(results.length, last)}</output>
      {results.length === 0 ? null : (
        <ol class="found">
          {results.map((result) => (
            <Found key={`${result.session_id} ${result.seq}`} result={result} />
          ))}
        </ol>
      )}
      <div class="actions">
        {last?.complete === false ? <Button onClick={again}>Search again</Button> : null}
        {typeof last?.next === "string" ? (
          <Button
            disabled={more.isBusy}
            onClick={() => {
              const { next } = last;
              const before = later.value?.results ?? [];
              more.run(async () => {
                const page = await client.searchMessages(query.peek(), {
                  ...options,
                  cursor: next ?? "",
                });
                later.value = { ...page, results: [...before, ...page.results] };
              });
            }}
          >
            Show more
          </Button>
        ) : null}
      </div>
    </Dialog>
  );
}

function Found({ result }: { readonly result: Result }): JSX.Element {
  const { session_id, seq, role, ts, title } = result;
  return (
    <li>
      <Link to={`/sessions/${session_id}${seq === null ? "" : `#m${seq}`}`}>
        <bdi>{title ?? "(no message yet)"}</bdi>
        <span class="muted">
          {seq === null ? "title" : `${role} ${seq}`}, <Time at={ts} />
        </span>
        <span dir="auto">
          {markedParts(result).map(({ text, isMarked }, at) =>
            isMarked ? <mark key={at}>{text}</mark> : text,
          )}
        </span>
      </Link>
    </li>
  );
}

function roleOf(value: string): Role | null {
  return value === "user" || value === "assistant" || value === "tool" ? value : null;
}

function countOf(count: number, last: SearchPage | null): string {
  const found =
    count === 0 ? "Nothing was found." : `${count}${last?.next === null ? "" : "+"} found.`;
  const incomplete = last === null ? null : incompleteSentence(last);
  return incomplete === null ? found : `${found} ${incomplete}`;
}
