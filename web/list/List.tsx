import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { adoptStyle } from "../adopt-style.ts";
import { client, whoami } from "../api.ts";
import { pageTitle, waitingQuestions } from "../parts/attention.ts";
import { Button } from "../parts/Button.tsx";
import { Icon } from "../parts/icons.tsx";
import { lazy } from "../parts/Lazy.tsx";
import { Notice } from "../parts/Notice.tsx";
import { query } from "../route.ts";
import { openSearch } from "../search/is-searching.ts";
import { connection, followList } from "../streams/streams.ts";
import { Filters } from "./Filters.tsx";
import { filtersOf, hasFilter, stateOf } from "./filters.ts";
import { style } from "./list.css";
import { Rows } from "./Rows.tsx";
import type { ListRow } from "./rows.ts";
import { createListSource, type ListSource } from "./source.ts";
import { usePlace } from "./use-place.ts";

adoptStyle(style);

const NewSession = lazy(async () => (await import("./NewSession.tsx")).NewSession);
const SessionActions = lazy(async () => (await import("./SessionActions.tsx")).SessionActions);

/** All sessions, pinned ones and those with something new first, and what they do now. */
export function List(): JSX.Element {
  const filters = filtersOf(query.value);
  const source = useSource();
  usePlace(source);
  const isCreating = useSignal(false);
  const acting = useSignal<ListRow | null>(null);
  const sessions = [...source.sessions.value.values()];
  const waiting = useComputed(
    () => [...source.sessions.value.values()].filter((each) => stateOf(each) === "waiting").length,
  );
  useEffect(() => {
    pageTitle.value = null;
  }, []);
  useEffect(() => {
    waitingQuestions.value = waiting.value;
    return () => {
      waitingQuestions.value = 0;
    };
  }, [waiting.value]);
  return (
    <div class="list-page">
      <div class="list-head">
        <h1>Sessions</h1>
        <Count source={source} waiting={waiting.value} />
        <span class="space" />
        <Button title="Ctrl-K" onClick={openSearch}>
          Search messages
        </Button>
        {mayCreate() ? (
          <Button
            kind="primary"
            onClick={() => {
              isCreating.value = true;
            }}
          >
            <Icon name="new" /> New session
          </Button>
        ) : null}
      </div>
      <Filters
        filters={filters}
        folders={different(sessions.map(({ repo_path }) => repo_path))}
        models={different(sessions.map(({ model }) => model))}
      />
      <Problem source={source} />
      {source.rows.value.length === 0 ? (
        <Empty source={source} isFiltered={hasFilter(filters)} />
      ) : (
        <Rows
          source={source}
          onAct={(row) => {
            acting.value = row;
          }}
        />
      )}
      {isCreating.value ? (
        <NewSession
          folders={different(sessions.map(({ repo_path }) => repo_path))}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      ) : null}
      {acting.value === null ? null : (
        <SessionActions
          session={source.sessions.value.get(acting.value.session.id) ?? acting.value.session}
          source={source}
          onClose={() => {
            acting.value = null;
          }}
        />
      )}
    </div>
  );
}

/** The list of the address. Another one is shown once its first page is read. */
function useSource(): ListSource {
  const filters = filtersOf(query.value);
  const wanted = useMemo(
    () => createListSource({ client, follow: followList, filters }),
    [JSON.stringify(filters)],
  );
  useEffect(() => wanted.start(), [wanted]);
  const shown = useRef(wanted);
  if (wanted.hasBegun.value || wanted.problem.value !== null) {
    shown.current = wanted;
  }
  return shown.current;
}

function mayCreate(): boolean {
  const role = whoami.value?.role;
  return role === "owner" || role === "guest";
}

function Count(props: { readonly source: ListSource; readonly waiting: number }): JSX.Element {
  const count = props.source.rows.value.length;
  const isComplete = props.source.isComplete.value;
  return (
    <output class="muted">
      {props.source.hasBegun.value ? `${count.toLocaleString("en")}${isComplete ? "" : "+"}` : ""}
      {props.waiting === 0
        ? ""
        : `, ${props.waiting} ${props.waiting === 1 ? "asks" : "ask"} you something`}
    </output>
  );
}

function Problem({ source }: { readonly source: ListSource }): JSX.Element | null {
  // the notice of the connection says that
  const isAway = connection.value?.kind === "offline" || connection.value?.kind === "unavailable";
  return source.problem.value === null || isAway ? null : (
    <Notice kind="problem">
      {source.problem.value}{" "}
      <Button onClick={() => void source.retry()} disabled={source.isReading.value}>
        Try again
      </Button>
    </Notice>
  );
}

function Empty(props: {
  readonly source: ListSource;
  readonly isFiltered: boolean;
}): JSX.Element | null {
  const { source, isFiltered } = props;
  const { isComplete, isReading, problem } = source;
  useEffect(() => {
    // a filter that the service does not have may let nothing of the first pages through
    if (source.hasBegun.value && !isComplete.value && !isReading.value && problem.value === null) {
      void source.readMore();
    }
  });
  if (problem.value !== null) {
    return null;
  }
  if (!isComplete.value) {
    return <p class="loading">Loading …</p>;
  }
  return (
    <p class="empty">
      {isFiltered
        ? "No session is like this."
        : "There are no sessions yet. Make one here, or start reprise in a folder."}
    </p>
  );
}

function different(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null))].sort();
}
