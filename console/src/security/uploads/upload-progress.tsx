import { Progress, Text } from '@mantine/core'
import { formatCount, formatPercent, formatSize } from '../../page/numbers.ts'
import type { UploadItem } from './upload-item.ts'
import classes from './upload-queue-list.module.css'

const PHASES = ['hashing', 'sending', 'reading'] as const
const NAMES = { hashing: 'Hashing', sending: 'Sending', reading: 'Reading' } as const

/** Three bars: the browser hashes the file, sends it, and the server reads it. */
export function UploadProgress({ item }: { item: UploadItem }) {
  const { phase, path, notice } = item
  const current = (PHASES as readonly string[]).indexOf(phase)
  return (
    <>
      <div className={classes.bars}>
        {PHASES.map((name, index) => (
          <div key={name}>
            <Text size="xs" className={classes.phase} data-current={index === current || undefined}>
              {NAMES[name]}
            </Text>
            <Progress
              size={5}
              mt={3}
              value={percentOf(item, index - current, name)}
              animated={name === 'reading' && index === current}
              aria-label={`${NAMES[name]} ${path}`}
            />
          </div>
        ))}
      </div>
      <Text size="xs" c="dimmed" mt={4}>
        {notice ?? describe(item)}
      </Text>
    </>
  )
}

/** How long a report is, is not known before it has been read. */
function percentOf({ doneBytes, file, phase }: UploadItem, distance: number, name: string): number {
  if (phase === 'waiting' || distance > 0) return 0
  if (distance < 0 || name === 'reading') return 100
  return Math.round((100 * doneBytes) / Math.max(file.size, 1))
}

function describe({ phase, doneBytes, file, upload }: UploadItem): string {
  if (phase === 'waiting') return 'Waiting'
  const done = `${formatPercent(Math.floor((100 * doneBytes) / file.size) / 100)} of ${formatSize(file.size)}`
  if (phase === 'hashing') return `Computing the checksum: ${done}`
  if (phase === 'sending') return `Sending: ${done}`
  if (upload?.status === 'parsing') return `Reading: ${formatCount(upload.counts.findings)} findings so far`
  return 'Waiting for a worker to read it'
}
