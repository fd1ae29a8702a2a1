import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { isHarmlessChoice, type QuestionInfo } from "../../../src/entries/client.ts";
import { Button } from "../../parts/Button.tsx";
import { isLongerChoice, keyOfChoice } from "./choices.ts";
import { onAnswerKey } from "./answer-keys.ts";
import { useArmed } from "./use-armed.ts";
import type { Seen } from "./use-seen.tsx";
import { visibleText } from "../act/visible-text.ts";

type Choice = NonNullable<QuestionInfo["choices"]>[number];

interface ChoicesProps {
  readonly choices: readonly Choice[];
  readonly isBusy: boolean;
  /** Whether the end of what is asked was in view: nothing can be allowed before. */
  readonly seen: Seen;
  /** False while lines of it are collapsed. */
  readonly isWhole: boolean;
  readonly onAnswer: (id: string) => void;
}

/**
 * Buttons, and their keys, that count once they were in view for a while: no key or click that came before answers. Longer
 * permissions follow "More".
 */
export function Choices({ choices, isBusy, seen, isWhole, onAnswer }: ChoicesProps): JSX.Element {
  const hint = useId();
  const element = useRef<HTMLUListElement>(null);
  const { isArmed, isArmedNow } = useArmed(element);
  const isMore = useSignal(false);
  /** A press that began before its answer counted does not count when it ends. Null without one: screen readers have none. */
  const hasBegun = useRef<boolean | null>(null);
  const mayChoose = ({ id }: Choice): boolean => isHarmlessChoice(id) || seen === "seen";
  const counts = (choice: Choice): boolean => mayChoose(choice) && isArmedNow();
  const longer = choices.filter(isLongerChoice);
  const shown = choices.filter((choice) => !isLongerChoice(choice));
  // at once: a key that comes right after the buttons were drawn has to find the same
  useLayoutEffect(() =>
    onAnswerKey(element, (key) => {
      const chosen = shown.find((choice) => keyOfChoice(choice, shown) === key);
      if (chosen !== undefined && !isBusy && isArmed && counts(chosen)) {
        onAnswer(chosen.id);
      }
    }),
  );
  const choiceOf = (choice: Choice, index: number): JSX.Element => {
    const key = keyOfChoice(choice, shown);
    return (
      <li key={choice.id}>
        <Button
          kind={
            index === 0 && !isHarmlessChoice(choice.id) && choice.meaning !== null
              ? "primary"
              : "plain"
          }
          aria-keyshortcuts={key ?? undefined}
          aria-disabled={isBusy || !isArmed || !mayChoose(choice)}
          aria-describedby={seen === "unseen" && !isHarmlessChoice(choice.id) ? hint : undefined}
          onPointerDown={() => void (hasBegun.current = counts(choice))}
          onKeyDown={({ repeat }) => void (hasBegun.current = counts(choice) && !repeat)}
          onClick={() => {
            const hasCounted = hasBegun.current ?? counts(choice);
            hasBegun.current = null;
            if (!isBusy && isArmed && mayChoose(choice) && hasCounted) {
              onAnswer(choice.id);
            }
          }}
        >
          <bdi>{visibleText(choice.label)}</bdi>
          {key === null ? null : <kbd aria-hidden="true">{key}</kbd>}
        </Button>
        {choice.meaning === null ? null : <span class="muted">{choice.meaning}</span>}
      </li>
    );
  };
  const yes = shown.filter(({ id }) => !isHarmlessChoice(id));
  return (
    <>
      {seen === "unseen" && !choices.every(({ id }) => isHarmlessChoice(id)) ? (
        <p id={hint} class="allow-hint">
          {isWhole
            ? "Scroll through all of it to allow it."
            : "Show the lines between and scroll through all of it to allow it."}
        </p>
      ) : null}
      <ul class="choices" ref={element}>
        {yes.map(choiceOf)}
        {isMore.value ? longer.map((choice) => choiceOf(choice, -1)) : null}
        {longer.length === 0 ? null : (
          <li key="more" class="more">
            <Button
              kind="quiet"
              aria-expanded={isMore.value}
              onClick={() => void (isMore.value = !isMore.value)}
            >
              {isMore.value ? "Less" : "More"}
            </Button>
          </li>
        )}
        {shown.filter(({ id }) => isHarmlessChoice(id)).map((choice) => choiceOf(choice, -1))}
      </ul>
    </>
  );
}
