import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { logIn, whoami } from "../api.ts";
import { place } from "../route.ts";
import { usePageTitle } from "../parts/attention.ts";
import { Notice } from "../parts/Notice.tsx";
import { sentenceOf } from "../parts/sentence-of.ts";
import { createSessionModel } from "../session/model.ts";
import { loadMarkdown } from "../session/Text.tsx";
import { Transcript } from "../session/Transcript.tsx";
import { ClientError } from "../../src/entries/client.ts";
import { takeShare } from "./take-share.ts";

void loadMarkdown();

/** What a visitor sees who has a link to one session: its messages, and new ones as they are stored. */
export function Shared({ id }: { readonly id: string }): JSX.Element {
  const problem = useSignal<string | null>(null);
  const isEntering = useSignal(false);
  /** How often a link was opened in this tab: another one begins again. */
  const entered = useSignal(0);
  /** The last link that was opened: what becomes of those before it does not count. */
  const latest = useRef<symbol | null>(null);
  const { hash } = place.value;
  useLayoutEffect(() => {
    const secret = takeShare();
    if (secret === null) {
      return;
    }
    const attempt = Symbol();
    latest.current = attempt;
    problem.value = null;
    isEntering.value = true;
    const end = (sentence: string | null): void => {
      if (latest.current === attempt) {
        isEntering.value = false;
        problem.value = sentence;
        entered.value += 1;
      }
    };
    logIn({ share: secret }).then(
      () => end(null),
      (error: unknown) => end(refusalOf(error)),
    );
  }, [id, hash]);
  const who = whoami.value;
  if (problem.value !== null) {
    return <Notice kind="problem">{problem.value}</Notice>;
  }
  if (who === null || isEntering.value) {
    return <p class="loading">Loading …</p>;
  }
  const mayRead = who.session === id || who.role === "owner" || who.role === "reader";
  return mayRead ? (
    <SharedSession key={entered.value} id={id} />
  ) : (
    <Notice kind="problem">
      This page needs the whole link, with what follows its number sign. Open it again from where
      you got it.
    </Notice>
  );
}

function refusalOf(error: unknown): string {
  return error instanceof ClientError && error.code === "login_refused" && error.status === 401
    ? "This link is not valid: it has expired, was ended, or its session was deleted. Ask for another one."
    : sentenceOf(error);
}

function SharedSession({ id }: { readonly id: string }): JSX.Element {
  const model = useMemo(() => createSessionModel(id, { isShared: true }), [id]);
  useEffect(() => model.start(), [model]);
  const session = model.session.value;
  const title = session === null ? null : (session.name ?? session.title);
  usePageTitle(title);
  const problem = model.problem.value;
  return (
    <div class="session shared">
      {problem === null ? null : (
        <Notice kind="problem">
          {problem.code === "session_not_found" || problem.code === "unauthorized"
            ? "This link is not valid any more."
            : problem.sentence}
        </Notice>
      )}
      {session === null ? (
        problem === null ? (
          <p class="loading">Loading …</p>
        ) : null
      ) : (
        <>
          <header class="session-head">
            <div class="session-title">
              <h1>
                <bdi>{title ?? "(no message yet)"}</bdi>
              </h1>
              {session.state === "ended" ? <span class="state ended">ended</span> : null}
            </div>
            <p class="muted">
              You read this session by a link. New messages appear as they are stored.
            </p>
          </header>
          <Transcript model={model} />
        </>
      )}
    </div>
  );
}
