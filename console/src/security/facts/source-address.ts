/** A repository as its code host shows it. */
export type SourceRepository = { provider: string | null; htmlUrl: string | null }

/** Lines of a file at a commit or branch. */
export type SourcePlace = { path: string; start: number | null; end: number | null; revision: string | null }

/** The page of the code host that shows a place. Null if the host or the place is not known. */
export function sourceAddress({ provider, htmlUrl }: SourceRepository, place: SourcePlace): string | null {
  const { path, start, end, revision } = place
  const isPlain = !path.split('/').some((part) => part === '..' || part === '.' || part === '')
  if (htmlUrl === null || revision === null || !isPlain || !/^https?:\/\//i.test(htmlUrl)) return null
  const file = path.split('/').map(encodeURIComponent).join('/')
  const at = revision
    .replace(/^refs\/(heads|tags)\//, '')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
  const lines = start === null ? null : ([start, end ?? start] as const)
  const base = htmlUrl.replace(/\/+$/, '')
  if (provider === 'github') return `${base}/blob/${at}/${file}${lines ? `#L${lines[0]}-L${lines[1]}` : ''}`
  if (provider === 'gitlab') return `${base}/-/blob/${at}/${file}${lines ? `#L${lines[0]}-${lines[1]}` : ''}`
  if (provider === 'bitbucket') return `${base}/src/${at}/${file}${lines ? `#lines-${lines[0]}:${lines[1]}` : ''}`
  if (provider === 'azure') return `${base}?${azureQuery(place, revision)}`
  return null
}

/** A commit (`GC`), a tag (`GT`) or a branch (`GB`), and lines up to an end that is not included. */
function azureQuery({ path, start, end }: SourcePlace, revision: string): string {
  const name = revision.replace(/^refs\/(heads|tags)\//, '')
  const kind = revision.startsWith('refs/tags/') ? 'GT' : /^[0-9a-f]{40}$/.test(revision) ? 'GC' : 'GB'
  const lines = start !== null && {
    ...{ line: String(start), lineEnd: String((end ?? start) + 1) },
    ...{ lineStartColumn: '1', lineEndColumn: '1' },
  }
  return new URLSearchParams({ path: `/${path}`, version: `${kind}${name}`, ...lines })
    .toString()
    .replaceAll('+', '%20')
}
