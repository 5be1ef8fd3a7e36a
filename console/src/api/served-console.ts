/** How the console on the server compares with the one in this tab. */
export type ServedConsole = 'unreachable' | 'same' | 'updated'

/**
 * Reads the server's document again. It names its script by the hash of the contents, so that
 * another name is another version of the console.
 */
export async function fetchServedConsole(): Promise<ServedConsole> {
  const response = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' }).catch(() => null)
  if (response === null || !response.ok) return 'unreachable'
  const served = new DOMParser().parseFromString(await response.text(), 'text/html')
  return findScript(served) === findScript(document) ? 'same' : 'updated'
}

function findScript(page: Document): string | null {
  return page.querySelector('script[type=module]')?.getAttribute('src') ?? null
}
