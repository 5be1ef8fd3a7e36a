import type { Fields } from '../fields.ts'

const DEVIATIONS: Record<string, string | undefined> = {
  direct_push: 'pushed directly, without a pull request',
  self_approved: 'approved only by its own authors',
  no_review: 'not approved',
  stale_review: 'commits followed the approval',
  check_failed: 'a required check did not succeed',
  bypassed_protection: 'the rules of the branch were bypassed',
  unsigned_commit: 'a commit without a verified signature',
}

const LANDED_BY: Record<string, string | undefined> = {
  pull_request: 'by a pull request',
  merge_queue: 'by a merge queue',
  push: 'by a direct push',
}

/** Describes the predicate of a change record: who landed what, who reviewed it, and what deviated. */
export function describeChange(predicate: Fields): string[] {
  const record = predicate.object('record')
  return [
    describeLanding(record),
    ...(record.has('pull_request') ? describePullRequest(record.object('pull_request')) : [describePush(record)]),
    describeCommits(record.object('commits')),
    ...describeReviews(record.objects('reviews')),
    describeChecks(record.objects('checks')),
    describeDeviations(presentDeviations(predicate)),
    ...predicate.objects('amendments').map(describeAmendment),
    ...describeBreaks(predicate),
  ]
}

function describeLanding(record: Fields): string {
  const repository = record.object('repository')
  const by = LANDED_BY[record.string('landed_by')] ?? `by ${record.string('landed_by')}`
  const name = `${repository.string('host')}/${repository.string('full_name')}`
  return `Change ${record.string('id')} landed on ${record.string('branch')} of ${name} ${by} at ${record.string('landed_at')}.`
}

function describePullRequest(pull: Fields): string[] {
  const title = `Pull request #${pull.count('number')} "${pull.string('title')}"`
  const merged = `merged by ${accountOf(pull, 'merged_by')} at ${pull.string('merged_at')}`
  return [`${title}, opened by ${accountOf(pull, 'author')}, ${merged}.`]
}

function describePush(record: Fields): string {
  const forced = record.json.forced === true ? ' The push replaced commits of the branch.' : ''
  return `Pushed by ${accountOf(record, 'pusher')}.${forced}`
}

function describeCommits(commits: Fields): string {
  const list = commits.objects('list')
  const authors = new Set(list.map((commit) => personOf(commit.object('author'))))
  const count = `${list.length}${commits.json.complete === false ? ' or more' : ''}`
  return `Commits: ${count}, ending with ${commits.string('merge')}${authors.size > 0 ? `, by ${[...authors].join(', ')}` : ''}.`
}

export function describeReviews(reviews: Fields[]): string[] {
  if (reviews.length === 0) return ['Reviews: none.']
  return reviews.map((review) => {
    const stale = review.json.stale === true ? '; commits followed the review' : ''
    const commit = review.has('commit_sha') ? ` of commit ${review.string('commit_sha')}` : ''
    const state = review.string('state').replaceAll('_', ' ')
    return `Review by ${accountOf(review, 'reviewer')}: ${state}${commit} at ${review.string('submitted_at')}${stale}.`
  })
}

function describeChecks(checks: Fields[]): string {
  if (checks.length === 0) return 'Checks: none.'
  const others = checks.filter((check) => check.string('status') !== 'success')
  const named = others.map((check) => `${check.string('name')} ${check.string('status')}`)
  return `Checks: ${checks.length - others.length} of ${checks.length} successful${named.length > 0 ? ` (${named.join(', ')})` : ''}.`
}

/** A late fact can change the deviations. The last amendment has the present ones. */
function presentDeviations(predicate: Fields): string[] {
  const last = predicate.objects('amendments').at(-1)
  const source = last === undefined ? predicate.object('record') : last.object('facts')
  return source.strings('deviations')
}

export function describeDeviations(names: string[]): string {
  const deviations = names.map((name) => `${name} (${DEVIATIONS[name] ?? 'unknown'})`)
  return `Deviations: ${deviations.length > 0 ? deviations.join(', ') : 'none'}.`
}

function describeAmendment(amendment: Fields): string {
  return `Added later, at ${amendment.string('at')}: a ${amendment.string('kind')}.`
}

/** Breaks of the chain that an administrator has acknowledged. */
export function describeBreaks(predicate: Fields): string[] {
  if (!predicate.has('breaks')) return []
  return predicate.objects('breaks').map((found) => {
    const note = found.has('note') ? ` The administrator noted: "${found.string('note')}".` : ''
    return `The chain of the repository was broken at link ${found.count('index')}.${note}`
  })
}

function accountOf(fields: Fields, name: string): string {
  return fields.has(name) ? fields.object(name).string('login') : 'an unknown account'
}

function personOf(person: Fields): string {
  return person.has('login') ? person.string('login') : person.string('name')
}
