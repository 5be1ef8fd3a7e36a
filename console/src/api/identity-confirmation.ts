/** Shows the dialog, and tells `confirmIdentity` how it ended. */
type Asker = (answer: (confirmed: boolean) => void) => void

let ask: Asker | null = null
let pending: Promise<boolean> | null = null

/** The dialog registers itself here. Returns how to unregister it. */
export function answerConfirmations(asker: Asker): () => void {
  ask = asker
  return () => {
    ask = null
  }
}

/**
 * Asks the user to confirm who they are (console.md §1, "fresh sign-in"). False if they cancel.
 * Several operations at the same time share one dialog.
 */
export function confirmIdentity(): Promise<boolean> {
  const asker = ask
  if (asker === null) return Promise.resolve(false)
  pending ??= new Promise<boolean>((resolve) => asker(resolve)).finally(() => {
    pending = null
  })
  return pending
}
