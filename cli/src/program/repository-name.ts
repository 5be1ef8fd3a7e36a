/**
 * The name that a code host has for a repository: `owner/name`. Takes a URL, an scp-style address,
 * `host/owner/name`, or the name itself.
 */
export function repositoryName(address: string): string {
  return pathOf(address.trim())
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/i, '')
}

function pathOf(address: string): string {
  if (address.includes('://')) return URL.canParse(address) ? decodeURIComponent(new URL(address).pathname) : address
  const scp = /^[^/]+@[^/:]+:(.+)$/.exec(address)
  if (scp) return scp[1] ?? address
  const [first = '', ...rest] = address.split('/')
  return rest.length > 1 && /[.:]/.test(first) ? rest.join('/') : address
}
