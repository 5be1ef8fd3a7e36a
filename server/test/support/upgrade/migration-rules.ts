/** A migration as the rules see it. */
type Sources = { name: string; text: string }

/** The baseline creates every table. */
const LAST_WITHOUT_RULES = '0001'
/** Tables with few rows, which are changed in no time. */
const SMALL = ['organizations', 'api_keys', 'users', 'members', 'custom_roles', 'oidc_trusts', 'configured_gates']

type Rule = { pattern: RegExp; says: string }

/** The first group of each pattern is the table. */
const RULES: Rule[] = [
  {
    pattern: /^create (?:unique )?index (?!concurrently)(?:if not exists )?\w+ on (?:only )?(\w+)/,
    says: 'builds an index that is not concurrent',
  },
  {
    pattern: /^alter table (?:only )?(\w+)[^;]*\balter (?:column )?\w+ (?:set data )?type\b/,
    says: 'changes the type of a column',
  },
  {
    pattern:
      /^alter table (?:only )?(\w+)[^;]*\badd (?:column )?[^;]*\bdefault [^,;]*(?:gen_random_uuid|uuidv7|random|clock_timestamp|nextval)\(/,
    says: 'adds a column with a volatile default',
  },
  {
    pattern: /^alter table (?:only )?(\w+)[^;]*\badd (?:column )?[^;]*\bgenerated (?:always|by default) as\b/,
    says: 'adds a computed column, which rewrites the table',
  },
  {
    pattern: /^alter table (?:only )?(\w+)(?:(?!not valid)[^;])*\breferences\b(?:(?!not valid)[^;])*$/,
    says: 'adds a foreign key that is not "not valid"',
  },
  {
    pattern:
      /^alter table (?:only )?(\w+)(?:(?!not valid)[^;])*\badd (?:constraint \w+ )?check\b(?:(?!not valid)[^;])*$/,
    says: 'adds a check that is not "not valid"',
  },
  {
    pattern:
      /^alter table (?:only )?(\w+)[^;]*\badd (?:constraint \w+ )?(?:unique|primary key|exclude)\b(?! using index)/,
    says: 'adds a constraint that builds an index',
  },
  {
    pattern: /^alter table (?:only )?(\w+)[^;]*\balter (?:column )?\w+ set not null\b/,
    says: 'reads the table to set "not null"',
  },
  { pattern: /^update (?:only )?(\w+)/, says: 'updates a table outside of batches' },
  { pattern: /^delete from (?:only )?(\w+)/, says: 'deletes from a table outside of batches' },
]

/** What a migration does to tables that exist already and blocks others for long. */
export function offlineSteps({ name, text }: Sources): string[] {
  if (name.slice(0, 4) <= LAST_WITHOUT_RULES || text.startsWith('-- run: batches of ')) return []
  const statements = text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.toLowerCase().replace(/\s+/g, ' ').trim())
  const created = statements.flatMap((statement) => /^create table (?:if not exists )?(\w+)/.exec(statement)?.[1] ?? [])
  return statements.flatMap((statement) =>
    RULES.flatMap(({ pattern, says }) => {
      const table = pattern.exec(statement)?.[1]
      return table === undefined || created.includes(table) || SMALL.includes(table)
        ? []
        : [`${name} ${says} (${table})`]
    }),
  )
}
