import type { JSX } from "preact";
import { useId, useRef } from "preact/hooks";

import { isHarmlessChoice, type QuestionInfo } from "../../../src/entries/client.ts";
import { Button } from "../../parts/Button.tsx";
import { useArmed } from "./use-armed.ts";
import type { Seen } from "./use-seen.tsx";
import { visibleText } from "./visible-text.ts";

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

/** Buttons that count once they were in view for a while: no key or click that came before answers. */
export function Choices({ choices, isBusy, seen, isWhole, onAnswer }: ChoicesProps): JSX.Element {
  const hint = useId();
  const element = useRef<HTMLUListElement>(null);
  const { isArmed, isArmedNow } = useArmed(element);
  /** A press that began before its answer counted does not count when it ends. Null without one: screen readers have none. */
  const hasBegun = useRef<boolean | null>(null);
  const mayChoose = ({ id }: Choice): boolean => isHarmlessChoice(id) || seen === "seen";
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
        {choices.map((choice) => {
          const counts = (): boolean => mayChoose(choice) && isArmedNow();
          return (
            <li key={choice.id}>
              <Button
                aria-disabled={isBusy || !isArmed || !mayChoose(choice)}
                aria-describedby={
                  seen === "unseen" && !isHarmlessChoice(choice.id) ? hint : undefined
                }
                onPointerDown={() => void (hasBegun.current = counts())}
                onKeyDown={({ repeat }) => void (hasBegun.current = counts() && !repeat)}
                onClick={() => {
                  const hasCounted = hasBegun.current ?? counts();
                  hasBegun.current = null;
                  if (!isBusy && isArmed && mayChoose(choice) && hasCounted) {
                    onAnswer(choice.id);
                  }
                }}
              >
                <bdi>{visibleText(choice.label)}</bdi>
              </Button>
              {choice.meaning === null ? null : <span class="muted">{choice.meaning}</span>}
            </li>
          );
        })}
      </ul>
    </>
  );
}
