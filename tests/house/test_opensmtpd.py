"""The real OpenSMTPD of the tests takes a mail and delivers it."""

import smtplib

from tests.support.opensmtpd import OpenSmtpd


def test_a_mail_lands_in_the_maildir(opensmtpd: OpenSmtpd) -> None:
    with smtplib.SMTP("127.0.0.1", opensmtpd.port, timeout=10) as client:
        client.sendmail(
            "shop@sender.example", ["ada@person.example"], b"Subject: hi\r\n\r\nyes\r\n"
        )
    [mail] = opensmtpd.wait_for_mails(1)
    assert mail["subject"] == "hi"
    assert mail["delivered-to"] == "ada@person.example"
