/** The page of a vulnerability at the database that names it. Null for an id of another form. */
export function advisoryAddress(id: string): { site: string; href: string } | null {
  if (!/^[A-Za-z][A-Za-z0-9]*-[A-Za-z0-9._:-]{1,100}$/.test(id)) return null
  const name = encodeURIComponent(id)
  if (/^CVE-\d/i.test(id)) return { site: 'NVD', href: `https://nvd.nist.gov/vuln/detail/${name}` }
  if (/^GHSA-/i.test(id)) return { site: 'GitHub', href: `https://github.com/advisories/${name}` }
  return { site: 'OSV', href: `https://osv.dev/vulnerability/${name}` }
}

/** The description of a weakness, such as CWE-79, by its owner. */
export function weaknessAddress(cwe: string): string | null {
  const number = /^CWE-(\d{1,6})$/.exec(cwe)?.[1]
  return number === undefined ? null : `https://cwe.mitre.org/data/definitions/${number}.html`
}

/** FIRST's calculator, which shows what the parts of a CVSS vector mean. */
export function cvssAddress(vector: string): string | null {
  const version = /^CVSS:(3\.[01]|4\.0)\/[A-Z0-9:/.]+$/i.exec(vector)?.[1]
  return version === undefined ? null : `https://www.first.org/cvss/calculator/${version}#${encodeURI(vector)}`
}

/** A repository as its code host shows it. */
type SourceRepository = { provider: string | null; htmlUrl: string | null }

/** Lines of a file at a commit or branch. */
type SourcePlace = { path: string; start: number | null; end: number | null; revision: string | null }

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
  const base = htmlUrl.replace(/(?<!\/)\/+$/, '')
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
