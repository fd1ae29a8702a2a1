import { signal } from "@preact/signals";

/** Whether the dialog of the search is open. */
export const isSearching = signal(false);

export function openSearch(): void {
  isSearching.value = true;
}
