import { ActionIcon, CopyButton, Group, Input, TextInput, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import classes from './copy-field.module.css'

type CopyIconProps = {
  value: string
  /** What is copied. The name of the button does not repeat it, so that only the field has that label. */
  label: string
}

/** A button that copies a text, and says that it did. */
export function CopyIcon({ value, label }: CopyIconProps) {
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
