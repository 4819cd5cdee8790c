"""The attack class: submissions that try to earn, read, harm or forge; each must gain nothing and harm nobody.

``make attacks`` grades them all in one class, each between two honest neighbours, and prints the table.
"""
