import type { Tx } from '../../platform/db/sql.ts'

/** What the streams of one report have in common. */
export type StreamKey = { org_id: string; repository_no: number; category: string | null; git_ref: string | null }

/** `rules_named`: by the reports so far, as `finding_streams` says. */
export type Stream = { id: number; tool: string; tracked: boolean; reported_at: Date; rules_named: number | null }

/** What is known of streams from the report at hand. */
export type StreamFacts = { source: string; origin: string; tracked: boolean }

/**
 * The streams of a report's tools, made when they are new, locked until the transaction ends: in the order of their
 * names, so that two reports never wait for each other.
 */
export async function lockStreams(tx: Tx, key: StreamKey, tools: string[], fresh: StreamFacts): Promise<Stream[]> {
  await tx`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, source, origin, tracked, reported_at, seen_at
    )
    select ${key.org_id}, ${key.repository_no}, ${key.category}, ${key.git_ref}, tool, ${fresh.source}, ${fresh.origin},
      ${fresh.tracked}, '-infinity', '-infinity'
    from unnest(${tools}::text[]) tool
    order by tool
    on conflict do nothing`
  return tx<Stream[]>`
    select id, tool, tracked,
      case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at, rules_named
    from finding_streams
    where org_id = ${key.org_id}
      and repository_no = ${key.repository_no}
      and coalesce(category, '') = coalesce(${key.category}::text, '')
      and branch_name(git_ref) = branch_name(${key.git_ref})
      and tool = any(${tools})
    order by tool
    for update`
}

export type StreamUpdate = StreamFacts & { git_ref: string | null; commit_sha: string | null; reported_at: Date }

/** What a report says of its stream itself. */
export type StreamWord = { id: number; version: string | null; rules_named: number | null }

/** Notes the report as its streams' newest. */
export async function updateStreams(tx: Tx, orgId: string, words: StreamWord[], update: StreamUpdate, at: Date) {
  await tx`
    update finding_streams stream
    set tool_version = word.version, rules_named = word.rules_named, source = ${update.source},
      origin = ${update.origin}, tracked = ${update.tracked}, git_ref = ${update.git_ref},
      commit_sha = ${update.commit_sha}, reported_at = ${update.reported_at}, seen_at = ${at}
    from unnest(
      ${words.map((word) => word.id)}::bigint[], ${words.map((word) => word.version)}::text[],
      ${words.map((word) => word.rules_named)}::integer[]
    ) as word (id, version, rules_named)
    where stream.org_id = ${orgId}
      and stream.id = word.id`
}
