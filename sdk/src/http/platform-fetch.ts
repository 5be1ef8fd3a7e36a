/**
 * The `fetch` of browsers, Deno and Bun. On Node.js, `#fetch` of package.json stands for the one of
 * `packages/network`, which knows the proxies and certificates of a company.
 */
export function networkFetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
  return globalThis.fetch(address, init)
}
