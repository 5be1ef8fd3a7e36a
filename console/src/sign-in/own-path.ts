/**
 * The path of an address of this server, or null. A path such as /.//host becomes //host, which
 * browsers read as another host.
 */
export function ownPath(address: string | undefined, origin: string): string | null {
  if (!address?.startsWith('/') || !URL.canParse(address, origin)) return null
  const url = new URL(address, origin)
  return url.origin === origin && !url.pathname.startsWith('//') ? url.pathname + url.search + url.hash : null
}
