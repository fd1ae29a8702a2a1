import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** How many questions wait for the reader, as far as the page knows. Shown in the title and the icon of the tab. */
export const waitingQuestions = signal(0);

/** What the page is about, such as the title of a session; null for the name of the program alone. */
export const pageTitle = signal<string | null>(null);

/** Makes a title the page's, as long as what calls it is shown. */
export function usePageTitle(title: string | null): void {
  useEffect(() => {
    pageTitle.value = title;
    return () => {
      pageTitle.value = null;
    };
  }, [title]);
}

/** Keeps the tab's title and icon up to date until the returned function is called. */
export function showAttention(): () => void {
  return effect(() => {
    document.title = titleOf(pageTitle.value, waitingQuestions.value);
    document.querySelector("link[rel=icon]")?.setAttribute("href", iconOf(waitingQuestions.value));
  });
}

/** As `(2) The title – Reprise`. */
function titleOf(title: string | null, questions: number): string {
  const name = title === null || title === "" ? "Reprise" : `${title} – Reprise`;
  return questions === 0 ? name : `(${questions}) ${name}`;
}

/** The icon of the tab as a data address: with a mark that has the number of questions, if there are any. */
function iconOf(questions: number): string {
  const mark =
    questions === 0
      ? ""
      : `<circle cx="22" cy="22" r="10" fill="#c2410c"/><text x="22" y="27" font-family="sans-serif" font-size="14" font-weight="bold" text-anchor="middle" fill="#fff">${questions > 9 ? "9+" : questions}</text>`;
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3b5bdb"/><path d="M9 9v14M13 16l9-7v14z" fill="#fff" stroke="#fff" stroke-width="2" stroke-linejoin="round"/>${mark}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(icon)}`;
}
