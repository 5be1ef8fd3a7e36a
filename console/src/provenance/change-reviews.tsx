import { Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleMinus, IconCircleX, IconClock, IconMessage } from '@tabler/icons-react'
import { type Icon, type Tone, ToneBadge } from '../page/badges.tsx'
import { PersonName } from '../page/person.tsx'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import { type Change, shortSha } from './change-words.ts'
import classes from './rows.module.css'

type Review = Change['reviews'][number]

const STATES: Record<Review['state'], [label: string, tone: Tone, icon: Icon]> = {
  approved: ['Approved', 'success', IconCircleCheck],
  changes_requested: ['Changes requested', 'failure', IconCircleX],
  commented: ['Commented', 'neutral', IconMessage],
  dismissed: ['Dismissed', 'neutral', IconCircleMinus],
}

/** The reviews of the pull request, and those that came after its record. */
export function ChangeReviews({ change: { reviews, amendments, pull_request } }: { change: Change }) {
  const late = amendments.flatMap(({ facts }) => (facts.review ? [facts.review] : []))
  const all = [
    ...reviews.map((review) => ({ review, isLate: false })),
    ...late.map((review) => ({ review, isLate: true })),
  ]
  return (
    <Section title="Reviews" count={all.length}>
      {all.length === 0 ? (
        <Text size="sm" c="dimmed">
          {pull_request ? 'Nobody reviewed the pull request.' : 'A push has no reviews.'}
        </Text>
      ) : (
        <Stack component="ul" gap={0} className={classes.rows}>
          {all.map(({ review, isLate }) => (
            <li key={`${review.id} ${isLate}`} className={classes.row}>
              <Group gap="sm">
                <ToneBadge tone={STATES[review.state][1]} icon={STATES[review.state][2]}>
                  {STATES[review.state][0]}
                </ToneBadge>
                <PersonName name={review.reviewer?.login ?? 'Deleted account'} />
                {review.stale && (
                  <ToneBadge tone="waiting" icon={IconClock}>
                    Stale
                  </ToneBadge>
                )}
                {isLate && (
                  <Text size="sm" c="dimmed">
                    After the merge
                  </Text>
                )}
              </Group>
              <Text size="sm" c="dimmed">
                {review.commit_sha && `${shortSha(review.commit_sha)} · `}
                <Time at={review.submitted_at} />
              </Text>
            </li>
          ))}
        </Stack>
      )}
    </Section>
  )
}
