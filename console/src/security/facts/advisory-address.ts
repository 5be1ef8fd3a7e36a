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
