"""The one evaluator of mail, pure: layout when a template is saved, Liquid when mail is sent."""
