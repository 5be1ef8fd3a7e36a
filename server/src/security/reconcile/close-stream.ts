import { insertAuditEntry, type Principal, SYSTEM } from '../../audit/audit.store.ts'
import { evidenceReplaced } from '../../ci/runs/run.events.ts'
import { otherStream, streamEnded, weakerStream } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import { truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import { updateEndedFindings, updateInheritedFindings } from '../writing/finding-writing.store.ts'
import { lockTriaged } from '../writing/grouping.store.ts'
import { refreshTriaged, waitForRepositories } from '../writing/write-triage.ts'
import { listSameFindings } from './match-report.ts'
import {
  findStreamRepository,
  type LockedStream,
  listStreamsOfUpload,
  lockReportedStreams,
  updateEndedStream,
} from './stream.store.ts'

type Needs = Pick<Services, 'sql' | 'clock'>
type Request = { orgId: string; principal: Principal }

/**
 * Ends a stream to which nobody reports any more: its open findings are closed, until another
 * report is sent to it. Throws 404, 409 `stream_ended`, and 503 `unavailable` while a report of the
 * repository is processed.
 */
export async function closeStream({ sql, clock }: Needs, request: Request, id: number, reason: string): Promise<void> {
  await sql.begin(async (tx) => {
    const [stream] = await lockStreams(tx, request, [id])
    const closing = { stream: stream as LockedStream, reason, action: 'end', issueIds: [] } as const
    await close(tx, request, closing, clock.now())
  })
}

/**
 * Ends a stream in favour of a stronger one of the same tool, category and ref, whose findings get
 * the decisions and the first-seen dates of the same problems (decisions §7). Throws 404, 409
 * `other_stream`, `weaker_stream` or `stream_ended`, and 503 `unavailable`.
 */
export async function mergeStreams(
  { sql, clock }: Needs,
  request: Request,
  { from, into }: { from: number; into: number },
): Promise<void> {
  await sql.begin(async (tx) => {
    const streams = await lockStreams(tx, request, [from, into])
    const named = (id: number) => streams.find((stream) => stream.id === id) as LockedStream
    const [weaker, stronger] = [named(from), named(into)]
    if (from === into || weaker.identity !== stronger.identity) throw otherStream()
    if (weaker.lane_rank > stronger.lane_rank) throw weakerStream()
    if (weaker.ended_at !== null || stronger.ended_at !== null) throw streamEnded()
    const at = clock.now()
    const { orgId } = request
    const same = await listSameFindings(tx, orgId, { from, into })
    const issueIds = await updateInheritedFindings(tx, orgId, { ...same, until: at }, at)
    const reason = `The stream ${into} of another sender has taken it over.`
    await close(tx, request, { stream: weaker, reason, action: 'take_over', issueIds }, at)
  })
}

/**
 * Ends the streams of all lanes whose newest report is an upload that is read as a VEX document
 * now. Its findings close, also those that it dismissed itself.
 */
export async function closeStreamsOfUpload(
  tx: Tx,
  { org_id: orgId, upload_id }: { org_id: string; upload_id: string },
  at: Date,
): Promise<void> {
  const ids = await listStreamsOfUpload(tx, orgId, upload_id)
  if (ids.length === 0) return
  const request = { orgId, principal: SYSTEM }
  const reason = 'The file is a VEX document. Its statements apply to the findings of reports.'
  const streams = await lockReportedStreams(tx, orgId, ids)
  await lockTriaged(
    tx,
    orgId,
    streams.map(({ repository_no }) => repository_no),
  )
  for (const stream of streams) {
    const closing = { stream, reason, action: 'end', issueIds: [] } as const
    if (stream.ended_at === null) await close(tx, request, closing, at)
  }
}

/** Streams before their repository, as reports lock them. Throws 404 if one does not exist. */
async function lockStreams(tx: Tx, { orgId }: Request, ids: readonly number[]): Promise<LockedStream[]> {
  const streams = await lockReportedStreams(tx, orgId, ids)
  if (streams.length < new Set(ids).size) throw createNotFoundError('stream')
  await waitForRepositories(
    tx,
    orgId,
    streams.map(({ repository_no }) => repository_no),
  )
  return streams
}

/** `issueIds`: issues of which findings were changed already. */
type Closing = {
  stream: LockedStream
  reason: string
  action: 'end' | 'take_over'
  issueIds: readonly string[]
}

async function close(
  tx: Tx,
  { orgId, principal }: Request,
  { stream, reason, action, issueIds }: Closing,
  at: Date,
): Promise<void> {
  if (stream.ended_at !== null) throw streamEnded()
  await updateEndedStream(tx, orgId, stream.id, { at, reason, by_name: principal.name })
  const ended = await updateEndedFindings(tx, orgId, stream.id, at)
  await refreshTriaged(tx, orgId, [...new Set([...issueIds, ...ended])], at)
  const object = { type: 'finding_stream', id: String(stream.id) }
  await insertAuditEntry(tx, orgId, { principal, action: `finding_stream.${action}`, object, reason }, at)
  const repository = await findStreamRepository(tx, orgId, stream.id)
  if (repository === null) return
  const { tool, git_ref, tracked, seen_at } = stream
  await publish(tx, evidenceReplaced, {
    org_id: orgId,
    repository: repository.name,
    ...(!tracked && git_ref !== null && { branch: git_ref }),
    what: `the stream of security reports of ${truncate(tool, 100)}${git_ref === null ? '' : ` for ${git_ref}`}, which was ended`,
    by: principal.name,
    since: seen_at.toISOString(),
    at: at.toISOString(),
  })
}
