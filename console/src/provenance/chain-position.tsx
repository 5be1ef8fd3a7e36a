import { Code, Text } from '@mantine/core'
import { Facts } from '../page/facts.tsx'
import { formatCount } from '../page/numbers.ts'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import type { Change } from './change-words.ts'

/** The place of the record in the hash chain of its repository. */
export function ChainPosition({ change: { chain, recorded_at, amendments } }: { change: Change }) {
  return (
    <Section title="Hash chain">
      <Text size="sm" c="dimmed" maw="70ch">
        Each record covers the hash of the record before it, so that none can be changed or removed unnoticed.
      </Text>
      <Facts
        facts={[
          ['Link', formatCount(chain.index)],
          ['Recorded', <Time key="recorded" at={recorded_at} format="absolute" />],
          ['Later facts', formatCount(amendments.length)],
        ]}
      />
      <Hash label="Hash" value={chain.hash} />
      <Hash label="Previous hash" value={chain.previous_hash ?? 'None: it is the first link'} />
    </Section>
  )
}

function Hash({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Code>{value}</Code>
    </div>
  )
}
