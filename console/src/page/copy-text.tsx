import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

type CopyTextProps = {
  text: string
  /** What it is: "commit SHA". */
  of: string
  /** How many characters are shown. All of them are copied. */
  shown?: number
}

/** A text that machines read, such as a checksum, with a button that copies it. */
export function CopyText({ text, of, shown = text.length }: CopyTextProps) {
  return (
    <Group gap={4} wrap="nowrap" component="span">
      <Code title={text}>{text.slice(0, shown)}</Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : `Copy ${of}`}>
            <ActionIcon variant="subtle" color="gray" size={24} aria-label={`Copy ${of}`} onClick={copy}>
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  )
}
