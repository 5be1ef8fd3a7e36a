import type { Sql } from '../src/platform/db/sql.ts'

const REPOSITORIES = 200
const TOOLS = ['codeql', 'semgrep', 'trivy', 'grype', 'gitleaks']
const CHUNK = 100_000
const DAYS = 300

/**
 * Stores so many findings with their issues, as imports over 300 days would have left them: five
 * tools in 200 repositories, four issues for five findings, a fifth of them fixed, one in fifty
 * dismissed. By SQL, because imports would take an hour.
 */
export async function storeFindings(
  sql: Sql,
  orgId: string,
  count: number,
  say: (done: number) => void,
): Promise<void> {
  const firstRepository = await storeStreams(sql, orgId)
  const until = new Date()
  for (let from = 0; from < count; from += CHUNK) {
    const chunk = { from, to: Math.min(count, from + CHUNK), count, firstRepository, until }
    await storeIssues(sql, orgId, chunk)
    await storeMembers(sql, orgId, chunk)
    say(chunk.to)
  }
  // Autovacuum does so within minutes, on a machine that has nothing else to do.
  await sql`vacuum (analyze) security_issues, findings, finding_streams, reported_repositories`
}

type Chunk = { from: number; to: number; count: number; firstRepository: number; until: Date }

/** Answers the number of the first repository; the others follow. */
async function storeStreams(sql: Sql, orgId: string): Promise<number> {
  const repositories = await sql<{ id: number }[]>`
    insert into reported_repositories (org_id, name, provider, provider_id, created_at)
    select ${orgId}, 'acme/stored-' || nth, 'github', (1000000 + nth)::text, now()
    from generate_series(1, ${REPOSITORIES}::int) nth
    returning id`
  await sql`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, tool_version, source, origin, tracked, commit_sha, rules_named,
      reported_at, seen_at
    )
    select ${orgId}, id, null, 'main', tool, '1.0.0', 'sarif', 'upload', true, repeat('a', 40), 50, now(), now()
    from unnest(${repositories.map(({ id }) => id)}::bigint[]) id
    cross join unnest(${TOOLS}::text[]) tool`
  return Math.min(...repositories.map(({ id }) => id))
}

/** The moment of the nth of all. */
function moment(sql: Sql, nth: ReturnType<Sql>, count: number, until: Date) {
  return sql`date_trunc('milliseconds', ${until}::timestamptz - make_interval(days => ${DAYS}) * (1 - ${nth}::float / ${count}))`
}

/** A version 7 UUID of the moment, the same for the same number. */
function timedId(sql: Sql, at: ReturnType<Sql>, nth: ReturnType<Sql>, version: string) {
  return sql`(
    lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || ${version} || lpad(to_hex(${nth}), 16, '0')
  )::uuid`
}

/** Four of five findings begin an issue; the fifth joins the one before it. */
async function storeIssues(sql: Sql, orgId: string, { from, to, count, firstRepository, until }: Chunk): Promise<void> {
  await sql`
    insert into security_issues (
      org_id, id, repository_no, bucket, kind, severity, status, listed, vuln_ids, canonical_id, epss, kev, created_at,
      updated_at
    )
    select ${orgId}, ${timedId(sql, sql`at`, sql`nth`, '7001')}, ${firstRepository} + nth / 5 % ${REPOSITORIES},
      decode(md5(nth::text), 'hex'), ${kindOf(sql)}, nth % 5, ${statusOf(sql)}, true,
      case when ${kindOf(sql)} = 'dependency' then array[${cveOf(sql)}] else '{}' end,
      case when ${kindOf(sql)} = 'dependency' then ${cveOf(sql)} end,
      case when ${kindOf(sql)} = 'dependency' then (nth % 10000 * 7919 % 10000)::real / 10000 else 0 end,
      ${kindOf(sql)} = 'dependency' and nth % 20 = 0, at, at
    from generate_series(${from}::int, ${to - 1}::int) nth
    cross join lateral (select ${moment(sql, sql`nth`, count, until)} as at) moment
    where nth % 5 < 4`
}

async function storeMembers(
  sql: Sql,
  orgId: string,
  { from, to, count, firstRepository, until }: Chunk,
): Promise<void> {
  await sql`
    insert into findings (
      org_id, id, stream_id, repository_no, fingerprint, fingerprint_method, ordinal, content_hash, kind, type, severity,
      reported_state, title, description, path, start_line, end_line, package_name, package_version, purl, vuln_ids, cwes, rule_id,
      scanner_score, issue_id, grouping_code, grouping_detail, grouped_at, first_seen_at, last_seen_at, created_at,
      updated_at
    )
    select ${orgId}, ${timedId(sql, sql`at`, sql`place`, '7002')}, stream.id, stream.repository_no,
      decode(md5(place::text) || md5('x' || place), 'hex'), 'primaryLocationLineHash', 0, decode(md5(place::text), 'hex'),
      ${kindOf(sql)}, null, (array['info', 'low', 'medium', 'high', 'critical'])[nth % 5 + 1],
      ${statusOf(sql)}, 'Untrusted data reaches a query that is built from text, number ' || place,
      'The value of a parameter flows into a query without being checked on the way. ' || repeat('It is read here. ', 8),
      'services/shop/src/module-' || nth % 5000 || '/handler.ts', 1 + nth % 900, 2 + nth % 900, 'package-' || nth % 3000,
      '1.2.' || nth % 30, 'pkg:npm/package-' || nth % 3000 || '@1.2.' || nth % 30,
      case when ${kindOf(sql)} = 'dependency' then array[${cveOf(sql)}] else '{}' end, array['CWE-' || 20 + nth % 200],
      'rules/rule-' || nth % 300, (nth % 100)::real / 10, ${timedId(sql, sql`issue_at`, sql`nth`, '7001')},
      case when place % 5 > 2 then 'same_location' else 'single' end,
      case when place % 5 > 2 then 'CWE-89 at overlapping lines of services/shop/src/handler.ts.' end, at, at,
      case when ${statusOf(sql)} = 'fixed' then at end, at, at
    from generate_series(${from}::int, ${to - 1}::int) place
    cross join lateral (select place - case when place % 5 = 4 then 1 else 0 end as nth) member
    cross join lateral (
      select ${moment(sql, sql`place`, count, until)} as at, ${moment(sql, sql`nth`, count, until)} as issue_at
    ) moment
    join finding_streams stream
      on stream.org_id = ${orgId}
      and stream.repository_no = ${firstRepository} + nth / 5 % ${REPOSITORIES}
      and stream.tool = (${TOOLS}::text[])[place % 5 + 1]`
}

function kindOf(sql: Sql) {
  return sql`(array['code', 'dependency', 'code', 'iac', 'secret', 'code', 'dependency', 'code', 'code', 'container'])[nth / 5 % 10 + 1]`
}

function statusOf(sql: Sql) {
  return sql`case when nth / 5 % 50 = 7 then 'dismissed' when nth / 5 % 5 = 3 then 'fixed' else 'open' end`
}

function cveOf(sql: Sql) {
  return sql`('CVE-2024-' || 10000 + nth % 20000)`
}
