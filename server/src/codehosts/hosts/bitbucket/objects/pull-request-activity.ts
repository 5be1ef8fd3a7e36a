import { type Static, Type } from 'typebox'
import type { HostReview } from '../../../host-change.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { Maybe, readAs, Text, Timestamp } from '../../../kit/payload.ts'
import { bareUuid } from '../client/uuid.ts'
import { Account, accountOf } from './repository.parser.ts'

const Answer = Maybe(Type.Object({ date: Timestamp, user: Maybe(Account) }))

/** Something that happened to a pull request: a change of it, or an answer of a reviewer. */
const Activity = Type.Object({
  update: Maybe(
    Type.Object({
      date: Maybe(Timestamp),
      state: Maybe(Text),
      source: Maybe(Type.Object({ commit: Maybe(Type.Object({ hash: Maybe(Text) })) })),
    }),
  ),
  approval: Answer,
  changes_requested: Answer,
})
type Activity = Static<typeof Activity>

export function parseActivity(value: unknown): Activity {
  return readAs(Activity, value)
}

/** When the pull request was merged or declined; null if that is not among these activities. */
export function closedAtOf(activities: readonly Activity[]): Date | null {
  const ends = activities.filter(({ update }) => update?.state && update.state !== 'OPEN' && update.date)
  const times = ends.map(({ update }) => new Date(update?.date as string).getTime())
  return times.length === 0 ? null : new Date(Math.min(...times))
}

const Participant = Type.Object({
  user: Maybe(Account),
  approved: Maybe(Type.Boolean()),
  state: Maybe(Text),
  participated_on: Maybe(Timestamp),
})

const Participants = Type.Object({ participants: Maybe(Type.Array(Participant)) })

type ReviewPlace = { repository: HostRepository; number: number; wholeHash: (hash: string) => string }
type Given = { user: string; state: HostReview['state']; at: Date; review: Omit<HostReview, 'state'> }

/**
 * The reviews of a pull request. Its participants have their present opinion only; its activities
 * say when each was given, and on which commit. An answer that its reviewer has withdrawn since is
 * dismissed.
 */
export function reviewsOf(pull: unknown, activities: readonly Activity[], place: ReviewPlace): HostReview[] {
  const participants = readAs(Participants, pull).participants ?? []
  const present = new Map(participants.map((one) => [bareUuid(one.user?.uuid ?? ''), opinionOf(one)]))
  const given = activities.flatMap((activity, at) => answerOf(activity, hashBefore(activities, at), place) ?? [])
  const newest = new Map([...given].reverse().map((one) => [one.user, one.at.getTime()]))
  const known = given.map(({ user, state, at, review }): HostReview => {
    const isNewest = newest.get(user) === at.getTime()
    const isWithdrawn = isNewest && present.has(user) && present.get(user) !== state
    return { ...review, state: isWithdrawn ? 'dismissed' : state }
  })
  const missing = participants.flatMap((one) => unlistedAnswer(one, known, place) ?? [])
  return [...known, ...missing]
}

function opinionOf({ approved, state }: Static<typeof Participant>): HostReview['state'] | null {
  if (state === 'changes_requested') return 'changes_requested'
  return approved || state === 'approved' ? 'approved' : null
}

/** Activities are listed newest first: the commit is that of the next older change. */
function hashBefore(activities: readonly Activity[], at: number): string | null {
  const older = activities.slice(at).find(({ update }) => update?.source?.commit?.hash)
  return older?.update?.source?.commit?.hash ?? null
}

function answerOf({ approval, changes_requested }: Activity, hash: string | null, place: ReviewPlace): Given | null {
  const answer = approval ?? changes_requested
  const reviewer = accountOf(answer?.user)
  if (!answer || reviewer === null) return null
  const at = new Date(answer.date)
  const state = approval ? 'approved' : 'changes_requested'
  return { user: reviewer.id, state, at, review: reviewAt(reviewer, at, hash, place) }
}

function reviewAt(
  reviewer: NonNullable<HostReview['reviewer']>,
  at: Date,
  hash: string | null,
  { repository, number, wholeHash }: ReviewPlace,
): Omit<HostReview, 'state'> {
  return {
    repository,
    pull_request: number,
    // Bitbucket's answers have no ids.
    id: `${number}_${reviewer.id}_${at.getTime()}`,
    reviewer,
    commit_sha: hash === null ? null : wholeHash(hash),
    submitted_at: at,
  }
}

/** A present opinion that the activities do not have any more. Its commit is unknown. */
function unlistedAnswer(
  participant: Static<typeof Participant>,
  known: readonly HostReview[],
  place: ReviewPlace,
): HostReview | null {
  const state = opinionOf(participant)
  const reviewer = accountOf(participant.user)
  if (state === null || reviewer === null || !participant.participated_on) return null
  if (known.some((review) => review.reviewer?.id === reviewer.id && review.state === state)) return null
  return { ...reviewAt(reviewer, new Date(participant.participated_on), null, place), state }
}

/** The abbreviated hashes of the commits that were reviewed. */
export function reviewedHashes(activities: readonly Activity[]): string[] {
  const hashes = activities.map((activity, at) =>
    activity.approval || activity.changes_requested ? hashBefore(activities, at) : null,
  )
  return [...new Set(hashes.filter((hash) => hash !== null))]
}
