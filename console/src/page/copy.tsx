import { ActionIcon, Code, CopyButton, Group, Input, TextInput, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import classes from './copy.module.css'
import { Link } from './link.tsx'
import type { PageAddress } from './pages.ts'

type CopyIconProps = {
  value: string
  /** What is copied. The name of the button does not repeat it, so that only the field has that label. */
  label: string
}

/** A button that copies a text, and says that it did. */
function CopyIcon({ value, label }: CopyIconProps) {
  return (
    <CopyButton value={value} timeout={2000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : `Copy ${label.toLowerCase()}`}>
          <ActionIcon variant="default" size="input-sm" onClick={copy} aria-label="Copy" aria-description={label}>
            {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            <span role="status" className={classes.status}>
              {copied ? 'Copied' : ''}
            </span>
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

type CopyFieldProps = { label: string; value: string; description?: string }

/** A text to copy, such as an address or a key. */
export function CopyField({ label, value, description }: CopyFieldProps) {
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <TextInput
        label={label}
        description={description}
        value={value}
        readOnly
        flex={1}
        classNames={{ input: classes.mono }}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <CopyIcon value={value} label={label} />
    </Group>
  )
}

/** A few lines of text to copy, such as a command. */
export function CopyBlock({ label, value }: { label: string; value: string }) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <div className={classes.block}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus */}
        <pre className={classes.pre} tabIndex={0}>
          {value}
        </pre>
        <CopyIcon value={value} label={label} />
      </div>
    </Input.Wrapper>
  )
}

type CopyTextProps = {
  text: string
  /** What it is: "commit SHA". */
  of: string
  /** How many characters are shown. All of them are copied. */
  shown?: number
  /** The page about it. */
  page?: PageAddress
}

/** A text that machines read, such as a checksum, with a button that copies it. */
export function CopyText({ text, of, shown = text.length, page }: CopyTextProps) {
  const code = <Code title={text}>{text.slice(0, shown)}</Code>
  return (
    <Group gap={4} wrap="nowrap" component="span" miw={0}>
      {page === undefined ? (
        code
      ) : (
        <Link {...page} underline="always" aria-label={`${text.slice(0, shown)}, ${of}`}>
          {code}
        </Link>
      )}
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

/** Saves text that the page has as a file of the reader. */
export function saveFile(name: string, text: string, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
