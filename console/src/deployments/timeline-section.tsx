import { Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleMinus,
  IconCircleX,
  IconClipboardCheck,
  IconLockOpen,
  IconPlayerPlay,
  IconRocket,
  IconShieldX,
} from '@tabler/icons-react'
import type { Icon } from '../page/badges.tsx'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import classes from './deployment.module.css'
import { ENTRY_TONES, type TimelineEntry } from './timeline.ts'

const ICONS: Record<TimelineEntry['kind'], Icon> = {
  opened: IconPlayerPlay,
  policy: IconClipboardCheck,
  gate: IconLockOpen,
  approved: IconCircleCheck,
  rejected: IconCircleX,
  override: IconShieldX,
  bypass: IconAlertTriangle,
  deployed: IconRocket,
  ended: IconCircleMinus,
}

/** What happened to a deployment, with who and when. */
export function TimelineSection({ entries }: { entries: TimelineEntry[] }) {
  return (
    <Section title="Timeline">
      <ol className={classes.timeline}>
        {entries.map((entry, index) => (
          <Entry key={`${entry.at} ${index}`} entry={entry} />
        ))}
      </ol>
    </Section>
  )
}

function Entry({ entry: { kind, title, by, at, note } }: { entry: TimelineEntry }) {
  const EntryIcon = ICONS[kind]
  return (
    <li className={classes.entry}>
      <span className={classes.bullet} style={{ color: `var(--shiplock-${ENTRY_TONES[kind]})` }}>
        <EntryIcon size={15} aria-hidden />
      </span>
      <Text size="sm" fw={500}>
        {title}
        {by !== null && (
          <Text span size="sm" fw={400}>
            {' by '}
            <bdi>{by}</bdi>
          </Text>
        )}
      </Text>
      {note !== null && (
        <Text size="sm" className={classes.note} lineClamp={12}>
          {note}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {at === null ? 'at an unknown time' : <Time at={at} />}
      </Text>
    </li>
  )
}
