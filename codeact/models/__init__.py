"""Models of the providers that have official clients: `codeact.models.anthropic` and `codeact.models.openai`.

Each is one class behind `codeact.messages.Model`, and needs the extra of its name. Nothing here imports a client until a
model is made.
"""
